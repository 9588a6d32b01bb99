// Reads a small file that a person wrote.
#pragma once

#include <string>

namespace cosmic::machine {

/// Throws UserError that calls the file `what` if it is not a regular file, cannot be read, or is
/// much longer than any such file is.
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace cosmic::machine
