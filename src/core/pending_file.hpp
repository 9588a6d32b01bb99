// A file that appears under its name only when it is complete. It grows under a temporary name in
// the same folder, so a full disk, an error or a kill never leaves half a file where a whole one is
// expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/file_operations.hpp"

namespace cosmic {

/// What to do about a file that has the name already.
enum class Existing { refuse, replace };

class PendingFile {
 public:
  /// Creates the temporary file, empty. Throws UserError if `path` exists and may not be replaced,
  /// DataError if nothing can be written there.
  explicit PendingFile(std::filesystem::path path, Existing existing = Existing::refuse,
                       FileOperations& files = system_files());
  /// Removes the temporary file, unless it was committed.
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Where a library that wants a path writes until commit(). Others append().
  const std::filesystem::path& temporary() const { return temporary_; }
  std::uint64_t bytes() const;

  /// Adds bytes at the end. Throws DataError.
  void append(std::span<const std::byte> bytes);

  /// For whoever does not append, until commit(): the open temporary file, and how to write it.
  int descriptor() const { return descriptor_; }
  FileOperations& files() const { return files_; }

  /// Makes the written bytes durable, then shows them under `path`. Whoever else wrote them has
  /// closed the file. Throws DataError; then there is still no file of that name, or the one
  /// before, unless the message says that only the folder could not be made durable.
  void commit();

  /// The name that an unfinished file would have become: one that a killed process has left behind,
  /// or that is being written now. Nothing if `file_name` is not so named.
  static std::optional<std::string> final_name(std::string_view file_name);

 private:
  void require(bool ok, const char* hint) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Existing existing_;
  FileOperations& files_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace cosmic
