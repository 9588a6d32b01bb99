#include "run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/utc_time.hpp"
#include "monitor/process.hpp"

namespace cosmic::run {
namespace {

constexpr mode_t kPermissions = 0666;  // less the user's umask

/// Is the name still that of the open file? Its holder may have removed it meanwhile.
bool is_named(int descriptor, const std::filesystem::path& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

std::string this_holder() {
  return "host " + monitor::this_process_table().host + ", process " + std::to_string(::getpid()) +
         ", since " + utc_now();
}

}  // namespace

int lock_at_once(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB);
}

RunLock::RunLock(const std::filesystem::path& folder, LockCall lock)
    : folder_(folder), path_(folder / kFileName) {
  while (!try_once(lock)) {
    ::close(std::exchange(descriptor_, -1));
  }
  const std::string before = holder();
  if (remark_.empty() && !before.empty()) {
    remark_ = "The run's folder was locked by a process that no longer runs (" + before +
              "); its lock is taken over.";
  }
  const std::string now = this_holder() + "\n";
  // For people. Without it the lock holds all the same, so a full disk is left for others to find.
  if (::ftruncate(descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(descriptor_, now.data(), now.size(), 0);
  }
}

/// False if the file was removed before it could be locked.
bool RunLock::try_once(LockCall lock) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kPermissions);
  COSMIC_REQUIRE(DataError, descriptor_ >= 0,
                 path_.string() << ": cannot be written (" << std::strerror(errno)
                                << "; a training locks its folder); choose an output_dir that you "
                                   "can write to");
  if (lock(descriptor_) == 0) {
    return is_named(descriptor_, path_);
  }
  const int reason = errno;
  if (reason == EINTR) {
    return false;
  }
  if (reason == EWOULDBLOCK) {
    const std::string other = holder();
    ::close(std::exchange(descriptor_, -1));
    COSMIC_REQUIRE(UserError, false,
                   folder_.string()
                       << ": another training is running there ("
                       << (other.empty() ? "it has just begun" : other)
                       << "; two would overwrite each other's checkpoints and mix their metrics); "
                          "wait until it has ended, or give another run.id or output_dir");
  }
  remark_ = path_.string() + ": this file system has no locks (" + std::strerror(reason) +
            "), so a second training in the same folder would not be noticed.";
  return true;
}

RunLock::~RunLock() {
  // While it is still locked: whoever opened it meanwhile sees that it has no name any more.
  if (is_named(descriptor_, path_)) {
    ::unlink(path_.c_str());
  }
  ::close(descriptor_);
}

/// What the file says, on one line.
std::string RunLock::holder() const {
  std::array<char, 512> text{};
  const ssize_t bytes = ::pread(descriptor_, text.data(), text.size(), 0);
  const std::string said(text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return escaped(said.substr(0, said.find('\n')));
}

}  // namespace cosmic::run
