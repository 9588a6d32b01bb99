#include "core/team_workers.hpp"

#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <system_error>
#include <thread>
#include <utility>

namespace cosmic {
namespace {

// Regions of a training step follow each other within microseconds and last up to milliseconds.
// Waiting without a system call costs the least, so that comes first; then the thread sleeps, and
// its core is free for whatever it waits for. Not sched_yield: that hands the core to anybody for a
// whole slice of time, where one that is woken takes it back at once.
constexpr auto kSpinning = std::chrono::microseconds(50);
// Where the system has taken the core away from a thread, others want it: spinning would only keep
// them from it.
constexpr auto kSpinningInACrowd = std::chrono::microseconds(2);
constexpr int kLooksPerTurn = 32;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Was this thread made to give up its core since it last asked?
bool lost_its_core() {
  thread_local long losses = 0;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return std::exchange(losses, usage.ru_nivcsw) != usage.ru_nivcsw;
}

/// A number that is waited for. As std::atomic's wait and notify_all, which yield before they
/// sleep.
class Counter {
 public:
  std::uint32_t value() const { return number_.load(std::memory_order_relaxed); }

  void count() {
    number_.fetch_add(1);
    if (sleepers_.load() > 0) {
      futex(FUTEX_WAKE_PRIVATE, INT_MAX);
    }
  }

  /// Returns once the number is no longer `old`.
  void wait_while(std::uint32_t old) {
    using Clock = std::chrono::steady_clock;
    thread_local bool in_a_crowd = false;
    const auto patience = in_a_crowd ? kSpinningInACrowd : kSpinning;
    const Clock::time_point begin = Clock::now();
    do {
      for (int look = 0; look < kLooksPerTurn; ++look) {
        if (number_.load(std::memory_order_acquire) != old) {
          return;
        }
        pause_briefly();
      }
    } while (Clock::now() - begin < patience);
    in_a_crowd = lost_its_core();
    // Whoever counts looks for sleepers afterwards; whoever sleeps looks at the number afterwards.
    // So one of the two sees the other.
    sleepers_.fetch_add(1);
    while (number_.load() == old) {
      futex(FUTEX_WAIT_PRIVATE, old);
    }
    sleepers_.fetch_sub(1);
  }

 private:
  void futex(int operation, std::uint32_t value) {
    syscall(SYS_futex, &number_, operation, value, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> number_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

// Inside a region a thread has its share of the cores already.
thread_local bool in_region = false;

}  // namespace

/// Where a caller and its workers meet. The first three numbers are on lines of their own: each is
/// written by one side while the other looks at it.
struct TeamWorkers::Meeting {
  alignas(64) Counter regions;              ///< begun; a worker waits for the next
  alignas(64) Counter ends;                 ///< the caller waits for the next
  alignas(64) std::atomic<int> working{0};  ///< workers that have not finished the region
  std::atomic<int> present{1};              ///< the caller and its workers

  // Written between regions, when no worker looks.
  Call call = nullptr;  ///< null: go home
  const void* context = nullptr;
  int parts = 0;
  int threads = 0;

  void make_parts(int index) const {
    for (int part = index; part < parts; part += threads) {
      call(context, part);
    }
  }

  void leave() {
    if (present.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }
};

TeamWorkers& TeamWorkers::of_this_thread() {
  thread_local TeamWorkers workers;
  return workers;
}

TeamWorkers::~TeamWorkers() {
  if (meeting_ != nullptr) {
    meeting_->call = nullptr;
    meeting_->regions.count();
    meeting_->leave();
  }
}

void TeamWorkers::work(Meeting* meeting, int index, std::uint32_t regions_before) {
  in_region = true;
  for (std::uint32_t region = regions_before;; ++region) {
    meeting->regions.wait_while(region);
    if (meeting->call == nullptr) {
      break;
    }
    meeting->make_parts(index);
    if (meeting->working.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      meeting->ends.count();
    }
  }
  meeting->leave();
}

void TeamWorkers::engage(int workers) {
  if (meeting_ == nullptr) {
    meeting_ = new Meeting;
  }
  const std::uint32_t regions = meeting_->regions.value();
  while (workers_ < workers && may_grow_) {
    meeting_->present.fetch_add(1, std::memory_order_relaxed);
    try {
      std::thread(work, meeting_, workers_ + 1, regions).detach();
      ++workers_;
    } catch (const std::system_error&) {
      // The system has no more threads for us: those that are there do everything.
      meeting_->present.fetch_sub(1, std::memory_order_relaxed);
      may_grow_ = false;
    }
  }
}

void TeamWorkers::run(int parts, Call call, const void* context) {
  if (in_region) {
    for (int part = 0; part < parts; ++part) {
      call(context, part);
    }
    return;
  }
  engage(parts - 1);
  in_region = true;
  meeting_->call = call;
  meeting_->context = context;
  meeting_->parts = parts;
  meeting_->threads = workers_ + 1;
  meeting_->working.store(workers_, std::memory_order_relaxed);
  const std::uint32_t end = meeting_->ends.value();
  if (workers_ > 0) {
    meeting_->regions.count();
  }
  meeting_->make_parts(0);
  if (workers_ > 0) {
    meeting_->ends.wait_while(end);
  }
  in_region = false;
}

}  // namespace cosmic
