// Many small works in one launch. Most works of a step are so small that starting them takes longer
// than doing them: weights of one layer, numbers per channel, one parameter. A joined launch has a
// table of them in device memory, which is written once, before anything runs. A block of threads
// finds in it what it does: one work, or a few one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cosmic::target::cuda {

/// One work of the table; joined_works.hpp knows what the bytes are.
struct alignas(16) JoinedEntry {
  static constexpr int kMostBytes = 304;

  std::int32_t kind = 0;
  std::int32_t stage = 0;  ///< of a reduction in two stages: 0 sums chunks, 1 joins them
  /// Elements of a map, outputs or chunks of a reduction, that a block of threads does at a time.
  std::int64_t per_part = 1;
  std::int64_t chunks = 1;  ///< of an output of a reduction
  std::int64_t terms_per_chunk = 0;
  std::byte work[kMostBytes] = {};
};

/// What a block of threads does: part `part` of each of its entries, in their order. It waits for
/// its own threads in between and for nobody else, so entries of one block may depend on each
/// other as far as they touch the same parts.
struct JoinedBlock {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t part = 0;
  std::int32_t unused = 0;
};

struct Joined {
  const JoinedEntry* entries = nullptr;
  const JoinedBlock* blocks = nullptr;
  std::int32_t block_count = 0;
};

}  // namespace cosmic::target::cuda
