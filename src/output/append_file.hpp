// A file that grows by whole records: a log line, a row, an event. Each record goes to the system
// in one call as soon as it is there, so a killed run keeps all of them and leaves no partial
// record.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/file_operations.hpp"

namespace cosmic::output {

class AppendFile {
 public:
  enum class Start {
    fresh,     ///< a new file; one that exists already is an error
    continued  ///< at the end of what there is, if anything
  };

  /// Makes the folder if there is none. Throws DataError if nothing can be written there.
  AppendFile(std::filesystem::path path, Start start, FileOperations& files = system_files());
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Throws DataError if the record does not fit; then the file ends with the record before.
  void append(std::string_view record);

 private:
  std::filesystem::path path_;
  FileOperations& files_;
  int descriptor_ = -1;
};

}  // namespace cosmic::output
