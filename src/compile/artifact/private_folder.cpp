#include "compile/artifact/private_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"

namespace cosmic::compile::artifact {
namespace {

constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kOthersCanWrite = S_IWGRP | S_IWOTH;
constexpr const char* kWhy = "whoever can write there decides what this program computes";

/// What is wrong with the owner and the mode of something that is open; empty if nothing.
std::string why_not_private(const struct stat& status) {
  if (status.st_uid != geteuid()) {
    return fmt::format("belongs to user {} and this program runs as user {}", status.st_uid,
                       geteuid());
  }
  if ((status.st_mode & kOthersCanWrite) != 0) {
    return fmt::format("can be written by others (its mode is {:o})", status.st_mode & 07777);
  }
  return "";
}

void create(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) {
    std::filesystem::create_directories(folder.parent_path(), error);  // what fails, mkdir reports
  }
  COSMIC_REQUIRE(DataError, mkdir(folder.c_str(), kOwnerOnly) == 0 || errno == EEXIST,
                 folder.string() << ": cannot be made (" << std::strerror(errno)
                                 << "); name a folder that you can write");
}

}  // namespace

PrivateFolder::PrivateFolder(std::filesystem::path folder, Missing missing)
    : folder_(std::move(folder)) {
  if (!folder_.has_filename()) {
    folder_ = folder_.parent_path();  // of "cache/", which would follow a link
  }
  if (missing == Missing::create) {
    create(folder_);
  }
  struct stat status {};
  if (missing == Missing::leave && lstat(folder_.c_str(), &status) != 0) {
    return;  // nothing is read; whoever wants to write hears why not
  }
  descriptor_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  // A link to a folder is not a folder, which is what the system says of it.
  COSMIC_REQUIRE(DataError, descriptor_ >= 0,
                 folder_.string() << ": is not used (" << std::strerror(errno)
                                  << "; links are not followed); name the folder itself");
  const bool known = fstat(descriptor_, &status) == 0;
  const std::string why = known ? why_not_private(status) : std::strerror(errno);
  if (!why.empty()) {
    close(descriptor_);
    throw DataError(
        fmt::format("{0}: {1} ({2}); use a folder of your own, or `chmod 700 {0}` after "
                    "removing the files in it that you did not make",
                    folder_.string(), why, kWhy));
  }
}

PrivateFolder::~PrivateFolder() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

std::optional<std::string> PrivateFolder::read(const std::string& name,
                                               std::uint64_t most_bytes) const {
  if (descriptor_ < 0) {
    return std::nullopt;
  }
  const std::string path = (folder_ / name).string();
  // O_NONBLOCK: opening a pipe would wait for somebody to write into it.
  const int file =
      openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) {
    return std::nullopt;
  }
  COSMIC_REQUIRE(DataError, file >= 0,
                 path << ": cannot be read (" << std::strerror(errno)
                      << "; links are not followed); remove it");
  std::string bytes;
  std::string why;
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    why = "is no plain file";
  } else if (why = why_not_private(status); why.empty()) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    why = size > most_bytes ? fmt::format("has {} bytes, more than {}", size, most_bytes) : "";
  }
  if (why.empty()) {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    ssize_t got = 1;
    while (done < bytes.size() && (got > 0 || errno == EINTR)) {
      got = ::read(file, bytes.data() + done, bytes.size() - done);
      done += got > 0 ? static_cast<std::size_t>(got) : 0;
      errno = got == 0 ? EIO : errno;  // it has become shorter: do not try for ever
    }
    bytes.resize(done);
    // The time of the last use decides what is removed first. Not to know it harms nobody.
    static_cast<void>(futimens(file, nullptr));
  }
  close(file);
  COSMIC_REQUIRE(DataError, why.empty(), path << ": " << why << " (" << kWhy << "); remove it");
  return bytes;
}

void make_private(int descriptor) {
  COSMIC_REQUIRE(DataError, fchmod(descriptor, S_IRUSR | S_IWUSR) == 0,
                 "its mode cannot be changed (" << std::strerror(errno) << ")");
}

}  // namespace cosmic::compile::artifact
