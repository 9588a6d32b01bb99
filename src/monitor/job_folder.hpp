// Where the jobs of one user keep their records. Only the user may write there, and no link leads
// elsewhere: what another user put in its place is refused, so that nobody can trick this program
// into writing, reading or removing other files.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cosmic::monitor {

/// $XDG_RUNTIME_DIR/cosmictagger, or a folder with the user's number in the temporary directory.
std::filesystem::path default_job_folder();

class JobFolder {
 public:
  /// Makes the folder if there is none. Throws UserError if it belongs to someone else, if others
  /// may look into it, or if it is a link.
  explicit JobFolder(std::filesystem::path path);
  ~JobFolder();
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// The names of everything in it, in alphabetical order.
  std::vector<std::string> names() const;

  /// Shows the text under `name` at once and whole; until then it grows under `unfinished`. Returns
  /// whether it did. Allocates nothing.
  bool write(const char* name, const char* unfinished, std::string_view text) const;

  /// The content of a file of this user with at most `most` bytes. Nothing if it is gone. Throws
  /// DataError saying what is wrong with it.
  std::optional<std::string> read(const std::string& name, std::size_t most) const;

  /// Another process may already have removed it.
  void remove(const char* name) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace cosmic::monitor
