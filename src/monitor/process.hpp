// Which process it is, and what it takes of the machine, from /proc. A number alone does not name a
// process: when one ends, its number goes to another. Number and start time together do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace cosmic::monitor {

struct ProcessId {
  pid_t number = 0;
  std::uint64_t start = 0;  ///< in clock ticks since the machine started

  bool operator==(const ProcessId&) const = default;
};

struct ProcessUsage {
  double processor_seconds = 0;  ///< of all its threads, since it started
  std::int64_t resident_bytes = 0;
};

/// Who counts processes: numbers of another machine, or of another container, mean other processes.
struct ProcessTable {
  std::string host;
  std::string boot;  ///< another one each time the machine starts
  std::string name_space;

  bool operator==(const ProcessTable&) const = default;
};

ProcessId this_process();
ProcessTable this_process_table();

/// Nothing if that process has ended, even if another has its number now.
std::optional<ProcessUsage> usage_of(const ProcessId& process);

/// Seconds since the machine started; the same clock for all its processes.
double seconds_since_boot();

}  // namespace cosmic::monitor
