// What writing a file asks of the system, in one place, so that a test can put a failing disk
// there: an error, a full disk or a crash at any operation. Readers need no such thing; damaged
// bytes are enough to test them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>

namespace cosmic {

/// The system's own operations. Each answers as the system call does: -1 and errno if it failed.
class FileOperations {
 public:
  FileOperations() = default;
  virtual ~FileOperations() = default;
  FileOperations(const FileOperations&) = delete;
  FileOperations& operator=(const FileOperations&) = delete;

  /// A descriptor for writing a new file, or one that is emptied.
  virtual int create(const std::filesystem::path& path);
  /// How many bytes were written; fewer than asked for is not an error.
  virtual ssize_t write(int descriptor, std::span<const std::byte> bytes);
  virtual int sync(int descriptor);
  virtual int close(int descriptor);
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  virtual int remove(const std::filesystem::path& path);
  /// Makes the names in a folder durable: a rename is an entry of its folder, and without this a
  /// power cut may bring the old one back.
  virtual int sync_folder(const std::filesystem::path& folder);
};

/// The one to use outside of tests. It has no state.
FileOperations& system_files();

}  // namespace cosmic
