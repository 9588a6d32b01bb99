// IDX, the format of MNIST and its successors: a magic number with type and rank, the extents as
// big-endian 32-bit numbers, then the values. Gzipped files are read as they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cosmic::data {

/// Bytes in row-major order.
struct IdxArray {
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> values;

  /// "[60000, 28, 28]"
  std::string shape_text() const;
};

/// Reads an array of unsigned bytes of rank 1 to 4. Throws DataError naming the file for anything
/// else: another type, and fewer or more bytes than the extents ask for.
IdxArray read_idx(const std::filesystem::path& path);

}  // namespace cosmic::data
