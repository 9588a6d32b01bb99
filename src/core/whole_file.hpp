// Writes a file in one go: a reader sees all of it or nothing.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/pending_file.hpp"

namespace cosmic {

/// Makes the folder if there is none. Throws UserError if the file exists and may not be replaced,
/// DataError if it cannot be written.
void write_whole_file(const std::filesystem::path& path, std::string_view content,
                      Existing existing);

}  // namespace cosmic
