// The body of a request as a file, for the reader of larcv3 files: in memory, with a name that
// nobody outside this process can open.
#pragma once

#include <filesystem>
#include <string_view>

namespace cosmic::serve {

class BodyFile {
 public:
  /// Throws Refusal if there is no memory for it.
  explicit BodyFile(std::string_view bytes);
  ~BodyFile();
  BodyFile(const BodyFile&) = delete;
  BodyFile& operator=(const BodyFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

}  // namespace cosmic::serve
