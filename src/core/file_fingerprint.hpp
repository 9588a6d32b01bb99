// What a file is known by, whatever its name: reports and predictions say with it which weights
// they were made with.
#pragma once

#include <filesystem>
#include <string>

namespace cosmic {

/// Of its bytes, in hexadecimal. Throws DataError if it is not a file that can be read.
std::string file_fingerprint(const std::filesystem::path& path);

}  // namespace cosmic
