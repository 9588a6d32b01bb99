// Says what this process does, where `cosmictagger monitor` looks for it. There is no daemon: the
// record is a small file, replaced atomically, removed when the job ends, and cleaned up by the
// next reader if the process was killed.
#pragma once

#include <filesystem>
#include <string>

#include "core/stopwatch.hpp"
#include "monitor/job_folder.hpp"
#include "monitor/job_record.hpp"

namespace cosmic::monitor {

/// Used by one thread.
class JobPublisher {
 public:
  /// Replacing a small file takes 15 microseconds in memory and 150 on a disk; twice a second, this
  /// slows no step down.
  static constexpr double kSecondsBetweenWrites = 0.5;

  /// Throws UserError if the folder cannot be trusted, DataError if nothing can be written there.
  explicit JobPublisher(const JobDescription& description,
                        const std::filesystem::path& folder = default_job_folder(),
                        double seconds_between_writes = kSecondsBetweenWrites);
  ~JobPublisher();
  JobPublisher(const JobPublisher&) = delete;
  JobPublisher& operator=(const JobPublisher&) = delete;

  /// Cheap enough for every step: mostly it only looks at a clock, and it never allocates. A change
  /// of state is written at once. What cannot be written is left out: readers see how old a record
  /// is, and the next update tries again.
  void update(const JobProgress& progress);

 private:
  JobFolder folder_;
  ProcessId process_;
  std::string name_;
  std::string unfinished_;
  JobRecordText text_;
  double seconds_between_writes_;
  JobState state_ = JobState::starting;
  Stopwatch since_write_;
};

}  // namespace cosmic::monitor
