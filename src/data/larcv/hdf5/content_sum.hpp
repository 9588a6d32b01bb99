// A checksum of the rows of a table that costs next to nothing. A chunk that is packed with deflate
// ends with the Adler-32 of the rows in it, which whoever unpacks it verifies; the sums of chunks
// give the sum of the whole table. So four bytes of every chunk stand for all rows, however the
// table is cut into chunks and however well they are packed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "data/larcv/hdf5/dataset.hpp"
#include "data/larcv/hdf5/file.hpp"

namespace cosmic::data::larcv::hdf5 {

/// The sums of a table's chunks, kept as they are read: whoever reads has the bytes at hand, and
/// what was not read is looked up when the sum of the whole is asked for. Any number of threads may
/// use it at the same time.
class ContentSum {
 public:
  /// The dataset outlives it.
  explicit ContentSum(const Dataset& dataset);

  /// The bytes of a chunk as the file has them, after they were unpacked without an error.
  void keep(std::uint64_t chunk, std::span<const std::byte> packed);
  /// Adler-32 of all rows. Chunks that are not simply deflated are read and unpacked for it.
  std::uint32_t value(const File& file) const;

 private:
  bool is_deflated_alone(std::uint64_t chunk) const;
  std::uint32_t stored_sum(const File& file, std::uint64_t chunk) const;

  const Dataset& dataset_;
  /// By chunk; 0 until it is known.
  std::unique_ptr<std::atomic<std::uint32_t>[]> kept_;
};

}  // namespace cosmic::data::larcv::hdf5
