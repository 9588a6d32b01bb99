// What is opened for reading is a file. A named pipe would make the reader wait for a writer that
// never comes, a device may never end, a folder reads as nothing.
#pragma once

#include <filesystem>

namespace cosmic {

/// The path itself, for whoever opens it next. Throws DataError if there is something that is not a
/// file: it says what it is. What does not exist or may not be read is left to the opening, which
/// has the better message.
const std::filesystem::path& regular_file(const std::filesystem::path& path);

}  // namespace cosmic
