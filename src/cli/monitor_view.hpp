// The running jobs by target, as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "monitor/job_list.hpp"
#include "monitor/nvml.hpp"

namespace cosmic::cli {

struct TargetJobs {
  std::string target;
  std::string provenance;  ///< of its timings
  std::vector<monitor::RunningJob> jobs;
};

struct MonitorView {
  std::string time;  ///< local
  std::string host;
  std::string user;
  std::vector<TargetJobs> targets;  ///< those of this build first, with jobs or without
  std::vector<std::string> notes;
  std::vector<monitor::DeviceStatus> devices = {};  ///< of this machine, whoever uses them
  std::string why_no_devices = {};                  ///< empty if they were asked for and answered
};

MonitorView monitor_view(monitor::JobList list, const monitor::Nvml& nvml);

/// Lines without their ends.
std::vector<std::string> monitor_lines(const MonitorView& view);
std::string monitor_json(const MonitorView& view);

}  // namespace cosmic::cli
