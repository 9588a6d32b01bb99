#include "core/threads.hpp"

#include <omp.h>
#include <sched.h>

#include "core/error.hpp"
#include "core/fork_join_order.hpp"

namespace cosmic {

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return CPU_COUNT(&set);
  }
  return omp_get_num_procs();
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

// OpenMP keeps its threads between regions and hands them work without allocating, which is exactly
// a team; writing our own pool would only add a second set of threads beside any library's.
void Team::run_on_all(void (*call)(const void*, int), const void* context) const {
  if (threads_ == 1) {
    call(context, 0);
    return;
  }
  ForkJoinOrder order;
  order.fork();
#pragma omp parallel num_threads(threads_)
  {
    order.begin_part();
    // OpenMP may grant fewer threads than asked for; every part must still be done.
    for (int index = omp_get_thread_num(); index < threads_; index += omp_get_num_threads()) {
      call(context, index);
    }
    order.end_part();
  }
  order.join();
}

}  // namespace cosmic
