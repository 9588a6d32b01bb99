// Whether a launcher started this process together with others: mpirun, mpiexec, srun, Cray's PALS,
// poprun. They say so in the environment, each in variables of its own.
#pragma once

#include <array>
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

/// Which process this is, as its launcher says; 0 where none says so. For what is said before MPI
/// has begun: work is divided by the rank that MPI knows.
int rank_of_environment(const std::function<const char*(const char*)>& variable);

/// A parameter of Open MPI, as mpirun takes it after --mca.
struct LauncherSetting {
  const char* name;
  const char* value;
};

/// With these, mpirun and its daemons notice within 15 s that a host cannot be reached, and end the
/// run on both sides; without, they wait for minutes. Less than the 20 s after which our processes
/// give up: what those ask of a daemon would be on its way then, and a connection with something on
/// its way is not asked whether it is alive.
inline constexpr std::array kNoticeLostHost{LauncherSetting{"oob_tcp_keepalive_time", "6"},
                                            LauncherSetting{"oob_tcp_keepalive_intvl", "3"},
                                            LauncherSetting{"oob_tcp_keepalive_probes", "3"}};

/// What to say to someone whose mpirun, for processes on several hosts, was not told so; empty if
/// it was, or if another launcher started them.
std::string advice_on_lost_hosts(const std::function<const char*(const char*)>& variable);

}  // namespace cosmic::comm
