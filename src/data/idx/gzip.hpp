// Gzipped files in memory. The sizes that such a file claims are checked against what its bytes can
// hold before anything is allocated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace cosmic::data {

/// The bytes of a file; of a gzipped one, which is known by its first bytes and not by its name,
/// what it was made from. Throws DataError naming the file.
std::vector<std::uint8_t> read_maybe_gzipped(const std::filesystem::path& path);

}  // namespace cosmic::data
