#include "core/file_operations.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace cosmic {
namespace {

constexpr mode_t kPermissions = 0666;  // less the user's umask

}  // namespace

int FileOperations::create(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kPermissions);
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
