#include "core/file_operations.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace cosmic {
namespace {

constexpr mode_t kPermissions = 0666;  // less the user's umask
constexpr int kNewFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

/// Does the error mean that the file system cannot do this at all?
bool is_not_supported(int reason) {
  return reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP || reason == EPERM;
}

}  // namespace

int FileOperations::create(const std::filesystem::path& path) {
  return ::open(path.c_str(), kNewFile, kPermissions);
}

int FileOperations::lock(int descriptor) {
  // Not flock: HDF5 takes that on every file it opens, ours too, and would find it taken.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_OFD_SETLK, &whole);
}

ssize_t FileOperations::write(int descriptor, std::span<const std::byte> bytes) {
  return ::write(descriptor, bytes.data(), bytes.size());
}

int FileOperations::sync(int descriptor) {
  return ::fsync(descriptor);
}

int FileOperations::close(int descriptor) {
  return ::close(descriptor);
}

int FileOperations::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str());
}

int FileOperations::rename_without_replacing(const std::filesystem::path& from,
                                             const std::filesystem::path& to) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
}

int FileOperations::link(const std::filesystem::path& from, const std::filesystem::path& to) {
  return ::link(from.c_str(), to.c_str());
}

int FileOperations::rename_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  const int renamed = rename_without_replacing(from, to);
  if (renamed == 0 || !is_not_supported(errno)) {
    return renamed;
  }
  // NFS cannot. A second name is exclusive too.
  if (link(from, to) == 0) {
    ::unlink(from.c_str());  // if it stays, the next who writes this file removes it
    return 0;
  }
  if (!is_not_supported(errno)) {
    return -1;
  }
  // FAT has no second names. An empty file takes the name first, then ours takes its place.
  const int reserved = ::open(to.c_str(), kNewFile, kPermissions);
  if (reserved < 0) {
    return -1;
  }
  ::close(reserved);
  const int replaced = std::rename(from.c_str(), to.c_str());
  const int reason = errno;
  if (replaced != 0) {
    ::unlink(to.c_str());
  }
  errno = reason;
  return replaced;
}

int FileOperations::remove(const std::filesystem::path& path) {
  return ::unlink(path.c_str());
}

int FileOperations::sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return -1;
  }
  // Not every file system can; those that cannot say so, and keep names in another way.
  const bool done = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return done ? 0 : -1;
}

ssize_t FileOperations::write_at(int descriptor, std::span<const std::byte> bytes,
                                 std::uint64_t offset) {
  return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
}

ssize_t FileOperations::read_at(int descriptor, std::span<std::byte> to, std::uint64_t offset) {
  return ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
}

int FileOperations::resize(int descriptor, std::uint64_t bytes) {
  return ::ftruncate(descriptor, static_cast<off_t>(bytes));
}

FileOperations& system_files() {
  static FileOperations files;
  return files;
}

}  // namespace cosmic
