// A file that appears under its name only when it is complete. It grows under a temporary name in
// the same folder, so a full disk, an error or a kill never leaves half a file where a whole one is
// expected. Whoever dies while writing leaves a file that the next who writes the same name
// removes.
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
  /// Creates the temporary file, empty, and removes those that dead processes left of the same
  /// name. Throws UserError if `path` may not be replaced and exists, or is being written by
  /// another; DataError if nothing can be written there.
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
  /// closed the file. Throws UserError if a file that may not be replaced came there meanwhile, and
  /// DataError; then there is still no file of that name, or the one before, unless the message
  /// says that only the folder could not be made durable.
  void commit();

  /// The name that an unfinished file would have become: one that a killed process has left behind,
  /// or that is being written now. Nothing if `file_name` is not so named.
  static std::optional<std::string> final_name(std::string_view file_name);

 private:
  void create_temporary();
  void require(bool ok, const char* hint) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Existing existing_;
  FileOperations& files_;
  int descriptor_ = -1;
  int lock_ = -1;           ///< of the same file, until it has its name
  std::size_t listed_ = 0;  ///< where remove_pending_files() finds it
  bool committed_ = false;
};

/// Throws UserError if there is anything of that name.
void require_new(const std::filesystem::path& path);

/// Removes unfinished files that would have become `path` and whose writers are dead. Throws
/// UserError if another process is writing one now, or if nobody can tell: where the file system
/// has no locks.
void require_not_being_written(const std::filesystem::path& path);

/// Removes all unfinished files in a folder whose writers are dead.
void remove_abandoned_files(const std::filesystem::path& folder);

/// Removes the temporary files that this process has now. For signal handlers, before the process
/// ends: it makes system calls only.
void remove_pending_files() noexcept;

}  // namespace cosmic
