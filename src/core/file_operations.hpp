// What writing a file asks of the system, in one place, so that a test can put a failing disk
// there: an error, a full disk or a crash at any operation. Readers need no such thing; damaged
// bytes are enough to test them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
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

  /// A descriptor for writing a file that is new, and for reading it back: EEXIST if anything has the
  /// name, a link too.
  virtual int create(const std::filesystem::path& path);
  /// Says to other processes that somebody is writing the file, until all descriptors that came of
  /// this one are closed. EAGAIN or EACCES if another process says so, anything else where the file
  /// system has no locks.
  virtual int lock(int descriptor);
  /// How many bytes were written; fewer than asked for is not an error.
  virtual ssize_t write(int descriptor, std::span<const std::byte> bytes);
  virtual int sync(int descriptor);
  virtual int close(int descriptor);
  /// Replaces what has the name `to`.
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  /// EEXIST if anything has the name `to`. Of two that try at the same time, one succeeds, in
  /// whichever of three ways the file system knows.
  int rename_new(const std::filesystem::path& from, const std::filesystem::path& to);
  virtual int remove(const std::filesystem::path& path);
  /// Makes the names in a folder durable: a rename is an entry of its folder, and without this a
  /// power cut may bring the old one back.
  virtual int sync_folder(const std::filesystem::path& folder);

  /// For whoever writes out of order and looks at what was written, as the HDF5 library does.
  virtual ssize_t write_at(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset);
  virtual ssize_t read_at(int descriptor, std::span<std::byte> to, std::uint64_t offset);
  virtual int resize(int descriptor, std::uint64_t bytes);

 protected:
  /// The first two of the three ways.
  virtual int rename_without_replacing(const std::filesystem::path& from,
                                       const std::filesystem::path& to);
  virtual int link(const std::filesystem::path& from, const std::filesystem::path& to);
};

/// The one to use outside of tests. It has no state.
FileOperations& system_files();

}  // namespace cosmic
