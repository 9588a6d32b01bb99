// A file of broken/ as it was before it was gzipped, in a folder of its own.
#pragma once

#include <filesystem>
#include <string>

namespace cosmic::data::larcv {

inline const std::filesystem::path kBrokenFolder = "tests/data/larcv/broken";

class UnpackedFile {
 public:
  /// `name` without the .gz.
  explicit UnpackedFile(const std::string& name);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

}  // namespace cosmic::data::larcv
