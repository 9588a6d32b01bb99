// Several larcv3 files as one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/pending_file.hpp"
#include "data/larcv/product_name.hpp"

namespace cosmic::data::larcv {

struct Merged {
  std::int64_t events = 0;
  std::vector<ProductName> left_out;  ///< products of types that this program does not read
};

/// Writes the events of all files, one file after the other, with their ids and products. Throws
/// DataError that names the file that cannot be read or has other products than the others.
Merged merge_files(const std::vector<std::filesystem::path>& files,
                   const std::filesystem::path& output, Existing existing);

}  // namespace cosmic::data::larcv
