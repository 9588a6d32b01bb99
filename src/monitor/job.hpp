// A job: one process that runs a program on a target for longer than a moment, and what it says
// about itself while it does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "monitor/process.hpp"

namespace cosmic::monitor {

/// What stays the same while the job runs.
struct JobDescription {
  std::string command;       ///< "train"
  std::string run;           ///< run.id
  std::string target;        ///< by its name in the registry
  std::string machine;       ///< that the target runs on, or stands for if it is modelled
  std::string compute_mode;  ///< as the user asked for it
  std::string provenance;    ///< of the machine's times: "measured" or "modelled"
  std::string folder;        ///< where its files are
  std::string device = {};   ///< that it computes on beside the host: "NVIDIA H200"; empty for none
  std::string bus_id = {};   ///< of that device, by which NVML knows it
};

enum class JobState { starting, compiling, running };

/// What progress is counted in.
enum class JobUnit { steps, events, calls, values };

/// Events per second that come out of formulas, with their error bar.
struct ModelledRate {
  double best = 0;
  double low = 0;
  double high = 0;
};

struct JobProgress {
  JobState state = JobState::starting;
  JobUnit unit = JobUnit::steps;
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0 if the job is open-ended
  /// What the clock of the host shows, which computes in the place of a modelled machine.
  double host_events_per_second = 0;
  /// Of the machine, if it is modelled and its time is known.
  std::optional<ModelledRate> modelled = {};
  std::optional<double> loss = {};
};

std::string to_string(JobState state);
std::string to_string(JobUnit unit);

/// A job as it describes itself. Times are seconds since the machine started.
struct JobRecord {
  ProcessId process;
  ProcessTable table;
  JobDescription description;
  JobProgress progress;
  double started = 0;
  double updated = 0;
};

}  // namespace cosmic::monitor
