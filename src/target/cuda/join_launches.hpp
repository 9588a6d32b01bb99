// Which works of a program share a launch. Each work is known by the memory that it touches; two
// may change places, or run side by side, where neither writes what the other touches. Large works
// keep their order and their launches. Small ones wait until a large one needs what they write;
// then those that are needed share a launch, with all others that are ready.
//
// In a launch, works that depend on each other are in one task: either element by element, each
// block of threads doing all of them for its elements, such as two moments of a parameter and its
// update; or as a whole, by one block, if they are tiny. Who writes what in which order stays as it
// was for every byte, so results do not change by a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "target/cuda/process_sums.hpp"

namespace cosmic::target::cuda {

/// Bytes that a work reads or writes.
struct Touch {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool writes = false;
};

/// A work, with all that it touches but counters of its own.
struct TouchingWork {
  Deed work;  ///< a kernel, or the begin or end of a sum over processes
  std::vector<Touch> touches;
};

/// Can it share a launch?
bool is_joinable(const Work& work);

/// Room that the work may take in a table; 0 for one that never is in one. It depends on shapes
/// alone.
std::int64_t table_bytes(const Work& work);

/// What to launch, in this order, and the table that joined launches refer to, as it must be in
/// memory at `table`.
struct JoinedLaunches {
  std::vector<Deed> deeds;
  std::vector<std::byte> table;
};

JoinedLaunches join_launches(std::span<const TouchingWork> works, const std::byte* table);

}  // namespace cosmic::target::cuda
