// A folder in which nobody but the user of this process can put anything. What is read from it is
// trusted to be what this user wrote, so owner and mode are asked of what is open, not of a path
// that may be something else a moment later, and symbolic links are not followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cosmic::compile::artifact {

class PrivateFolder {
 public:
  enum class Missing { leave, create };

  /// A folder that is made gets the mode 0700. Throws DataError that says who else could write here
  /// and what to do about it, or why the folder cannot be made.
  PrivateFolder(std::filesystem::path folder, Missing missing);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  /// The bytes of a file, whose time of last use becomes now; nothing if it is not there. Throws
  /// DataError if it is a link, no plain file, another user's, one that others can write, or larger
  /// than `most_bytes`.
  std::optional<std::string> read(const std::string& name, std::uint64_t most_bytes) const;

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;  ///< none: there is no such folder
};

/// Takes the right to write a file that is open from everybody but its owner.
void make_private(int descriptor);

}  // namespace cosmic::compile::artifact
