// A driver whose device is the host: it runs the code of the kernels thread by thread, and a plain
// twin of those that need tensor cores and the chip's memory (host_chip/ runs these too). With it
// all of the target but the launches themselves is tested where there is no GPU; and it can be told
// to fail as a device does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "target/cuda/driver.hpp"

namespace cosmic::target::cuda {

/// Work as the host does it, without a chip.
void run_on_host(const Work& work);

/// What the tests tell the device, and see of it. Shared with everything that was made from it.
struct HostMachine {
  Presence presence{.answer = {}, .devices = 1, .driver_version = 13000, .runtime_version = 13000};
  DeviceFacts facts{.ordinal = 0,
                    .name = "Host GPU",
                    .major = 9,
                    .minor = 0,
                    .memory_bytes = std::int64_t{4} << 30,
                    .multiprocessors = 2,
                    .clock_hz = 1e9,
                    .memory_bytes_per_second = 1e12};
  std::int64_t used_by_others = 0;
  Answer end_of_work;  ///< what the next wait() after some work answers
  Answer allocating;   ///< what allocations answer where there is room, if not ok
  /// Work of a queue is done as late as can be, when somebody waits for it, instead of at once: who
  /// changes memory that is still on its way is found.
  bool works_late = false;
  std::function<void(const Work&)> run = run_on_host;  ///< how work is done

  std::int64_t allocated = 0;
  std::int64_t allocations = 0;  ///< so far, pinned ones too
  std::int64_t bytes_uploaded = 0;
  std::int64_t replays = 0;
  std::int64_t launches_recorded = 0;  ///< in the latest recording
  std::int64_t works_outside_recordings = 0;
  std::int64_t sums_recorded = 0;  ///< over processes, so far
  std::int64_t connections = 0;    ///< to the devices of other processes
  /// "upload 36", "replay", "wait": as they were given to queues, if that is written down.
  bool writes_down = false;
  std::vector<std::string> given;
};

std::shared_ptr<const Driver> host_driver(std::shared_ptr<HostMachine> machine);

}  // namespace cosmic::target::cuda
