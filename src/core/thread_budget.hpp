// How many threads a process takes where nobody tells it: what whoever started it meant it to have.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace cosmic {

struct ThreadBudget {
  int threads = 1;
  std::string reason;  ///< "OMP_NUM_THREADS=4", "2 cores that this process may use"
};

/// Where a process finds out. Those of the system unless a test has others.
struct ProcessLimits {
  std::function<const char*(const char*)> environment;  ///< as std::getenv
  int cores = 1;                                        ///< of the affinity mask
  std::optional<double> quota;  ///< cores that the control group may use, if it is limited
};
ProcessLimits process_limits();

/// In this order: OMP_NUM_THREADS, SLURM_CPUS_PER_TASK, and the cores of the affinity mask, or
/// fewer where a control group has a quota. A variable that is no positive number is passed over,
/// and the reason says so.
ThreadBudget thread_budget(const ProcessLimits& limits = process_limits());

}  // namespace cosmic
