// Whether a launcher started this process together with others: mpirun, mpiexec, srun, Cray's PALS,
// poprun. They say so in the environment, each in variables of its own.
#pragma once

#include <functional>
#include <string>

namespace cosmic::comm {

struct Launch {
  bool several = false;  ///< surely more than one process
  /// The variable that says so, "PMI_SIZE is 4"; also where a launcher leaves it open how many
  /// there are. Empty for a process that was started alone.
  std::string evidence;
};

/// `variable` returns the value of an environment variable, or null.
Launch launch_of_environment(const std::function<const char*(const char*)>& variable);

}  // namespace cosmic::comm
