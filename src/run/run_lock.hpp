// One training at a time in a run's folder: two would mix their metrics and remove each other's
// files. Who only reads the folder, or writes files of its own there, needs no lock.
#pragma once

#include <filesystem>
#include <string>

namespace cosmic::run {

/// The system call, replaceable for tests: flock(descriptor, LOCK_EX | LOCK_NB).
using LockCall = int (*)(int descriptor);
int lock_at_once(int descriptor);

/// Holds the lock while it lives: a lock on the file run.lock, which says who holds it. The system
/// gives a lock up when its holder dies; the file that remains is then taken over.
class RunLock {
 public:
  static constexpr const char* kFileName = "run.lock";

  /// The folder exists. Throws UserError if another process holds the lock, with its host, number
  /// and the time it took it; DataError if the file cannot be written.
  explicit RunLock(const std::filesystem::path& folder, LockCall lock = lock_at_once);
  /// Removes the file.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// What the log should say: that the lock of a dead process was taken over, or that there are no
  /// locks here. Empty for nothing.
  const std::string& remark() const { return remark_; }

 private:
  bool try_once(LockCall lock);
  std::string holder() const;

  std::filesystem::path folder_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::string remark_;
};

}  // namespace cosmic::run
