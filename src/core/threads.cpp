#include "core/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "core/error.hpp"
#include "core/team_workers.hpp"

namespace cosmic {

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return CPU_COUNT(&set);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Range slice_of(std::int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

Team::Team(int threads, double worth_waking) : threads_(threads), worth_waking_(worth_waking) {
  COSMIC_REQUIRE(UserError, threads >= 1 && threads <= 4096,
                 "threads is " << threads
                               << " (a step needs at least one thread and at most 4096); leave it "
                                  "out to use all cores");
}

void Team::run_on_all(void (*call)(const void*, int), const void* context) const {
  if (threads_ == 1) {
    call(context, 0);
    return;
  }
  TeamWorkers::of_this_thread().run(threads_, call, context);
}

}  // namespace cosmic
