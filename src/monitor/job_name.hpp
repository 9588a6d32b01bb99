// Names of a job's files. They hold the number and the start time of its process, so no two jobs
// ever share one, and what a killed process has left behind is told from its name alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "monitor/process.hpp"

namespace cosmic::monitor {

/// `count` tells the jobs of one process apart.
std::string job_file_name(const ProcessId& process, unsigned count);
/// The name under which a record grows.
std::string unfinished_name(const std::string& job_file);

enum class JobFileKind { record, unfinished };

struct JobFile {
  JobFileKind kind = JobFileKind::record;
  ProcessId process;
};

/// Nothing if it is not the name of a job's file.
std::optional<JobFile> parse_job_file_name(std::string_view name);

}  // namespace cosmic::monitor
