#include "monitor/job_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/error.hpp"

namespace cosmic::monitor {
namespace {

constexpr mode_t kOnlyOwner = 0700;
constexpr mode_t kOnlyOwnerFile = 0600;
constexpr mode_t kOthers = 0077;

/// The specification of XDG_RUNTIME_DIR asks that it be the user's own; after `su` it often is not.
bool is_own_folder(const char* path) {
  struct stat found {};
  return path != nullptr && path[0] == '/' && stat(path, &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid();
}

void require_private(const std::filesystem::path& path, int descriptor) {
  struct stat found {};
  COSMIC_REQUIRE(UserError, fstat(descriptor, &found) == 0,
                 path.string() << ": cannot be examined (" << std::strerror(errno) << ")");
  COSMIC_REQUIRE(
      UserError, found.st_uid == geteuid(),
      path.string() << ": belongs to user " << found.st_uid << ", this is user " << geteuid()
                    << " (job records must be in a folder of your own, so that nobody else can "
                       "change them); remove it, or set XDG_RUNTIME_DIR to a folder of your own");
  COSMIC_REQUIRE(
      UserError, (found.st_mode & kOthers) == 0,
      path.string()
          << ": is open to other users (they could change job records); close it with `chmod 700 "
          << path.string() << "`");
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), text.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

/// A descriptor that is closed when its scope ends.
class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::filesystem::path default_job_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (is_own_folder(runtime)) {
    return std::filesystem::path(runtime) / "cosmictagger";
  }
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  COSMIC_REQUIRE(UserError, !error,
                 "there is no folder for temporary files ("
                     << error.message() << "; TMPDIR names it, or it is /tmp), where job records "
                     << "go; set TMPDIR or XDG_RUNTIME_DIR to a folder of your own");
  return temporary / ("cosmictagger-" + std::to_string(geteuid()));
}

JobFolder::JobFolder(std::filesystem::path path) : path_(std::move(path)), descriptor_(-1) {
  const bool made = ::mkdir(path_.c_str(), kOnlyOwner) == 0 || errno == EEXIST;
  descriptor_ = made ? ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  COSMIC_REQUIRE(UserError, descriptor_ >= 0,
                 path_.string() << ": cannot be used as the folder for job records ("
                                << (errno == ENOTDIR || errno == ELOOP ? "it is a file or a link"
                                                                       : std::strerror(errno))
                                << "); remove it, or set XDG_RUNTIME_DIR to a folder of your own");
  try {
    require_private(path_, descriptor_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

JobFolder::~JobFolder() {
  ::close(descriptor_);
}

std::vector<std::string> JobFolder::names() const {
  // closedir() closes its descriptor, so it gets one of its own.
  const int own = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(own < 0 ? nullptr : ::fdopendir(own), closedir);
  COSMIC_REQUIRE(DataError, folder != nullptr,
                 path_.string() << ": cannot be listed (" << std::strerror(errno) << ")");
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool JobFolder::write(const char* name, const char* unfinished, std::string_view text) const {
  bool written = false;
  {
    const OpenFile file(::openat(descriptor_, unfinished,
                                 O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                                 kOnlyOwnerFile));
    written = file.get() >= 0 && write_all(file.get(), text);
  }
  if (written && ::renameat(descriptor_, unfinished, descriptor_, name) == 0) {
    return true;
  }
  remove(unfinished);
  return false;
}

std::optional<std::string> JobFolder::read(const std::string& name, std::size_t most) const {
  // Anything but a file (a pipe, say) must not make the reader wait.
  const OpenFile file(
      ::openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) {
    return std::nullopt;
  }
  COSMIC_REQUIRE(DataError, file.get() >= 0,
                 "it cannot be opened (" << std::strerror(errno) << ")");
  struct stat found {};
  COSMIC_REQUIRE(DataError, fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode),
                 "it is not a file");
  COSMIC_REQUIRE(DataError, found.st_uid == geteuid(), "it belongs to user " << found.st_uid);
  COSMIC_REQUIRE(DataError, static_cast<std::size_t>(found.st_size) <= most,
                 "it has " << found.st_size << " bytes");
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t done = ::read(file.get(), text.data() + at, text.size() - at);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      break;
    }
    at += static_cast<std::size_t>(done);
  }
  text.resize(at);
  return text;
}

void JobFolder::remove(const char* name) const {
  ::unlinkat(descriptor_, name, 0);
}

}  // namespace cosmic::monitor
