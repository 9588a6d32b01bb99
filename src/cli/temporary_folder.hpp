// A folder for what only this process needs. It is gone when this is.
#pragma once

#include <filesystem>

namespace cosmic::cli {

class TemporaryFolder {
 public:
  /// In TMPDIR. Throws DataError if it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cosmic::cli
