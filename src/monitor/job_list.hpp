// All jobs of this user on this machine, from the records they keep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/job.hpp"
#include "monitor/job_folder.hpp"

namespace cosmic::monitor {

struct RunningJob {
  JobRecord record;
  ProcessUsage usage;
  double seconds = 0;               ///< since it started
  double seconds_since_update = 0;  ///< of its record
};

struct JobList {
  std::vector<RunningJob> jobs;    ///< the oldest first
  std::vector<std::string> notes;  ///< about files that are not records, and jobs elsewhere
};

/// Removes what dead processes have left behind. Files that are not records are left alone and
/// noted; so are records of other machines and containers, whose processes cannot be seen from
/// here. Throws UserError if the folder cannot be trusted.
JobList list_jobs(const std::filesystem::path& folder = default_job_folder());

}  // namespace cosmic::monitor
