// How the chunks of a dataset are packed, and how to unpack one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/byte_reader.hpp"

namespace cosmic::data::larcv::hdf5 {

enum class FilterKind : std::uint16_t { deflate = 1, shuffle = 2, fletcher32 = 3 };

struct Filter {
  FilterKind kind{};
  unsigned level = 0;  ///< of deflate
};

/// In the order in which a writer applies them.
using Filters = std::vector<Filter>;

/// A filter that is not built in is an error that names it: HDF5 would look for a plugin, that is,
/// run code that the file asked for.
Filters read_filters(ByteReader cursor);

/// Fewer bytes than this many cannot inflate to `bytes`: deflate's best ratio is 1032 to 1.
std::uint64_t least_packed_bytes(const Filters& filters, std::uint64_t bytes);

/// Unpacks chunks; belongs to one thread. Keeps its memory from chunk to chunk.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// `skipped` has bit i set if the writer left out filter i. Throws
  /// DataError "<problem>" if the bytes do not unpack to exactly those of `to`.
  void unpack(const Filters& filters, std::uint32_t skipped, std::size_t row_bytes,
              std::span<const std::byte> packed, std::span<std::byte> to);

 private:
  struct Inflater;

  std::unique_ptr<Inflater> inflater_;
  std::array<std::vector<std::byte>, 2> scratch_;
};

}  // namespace cosmic::data::larcv::hdf5
