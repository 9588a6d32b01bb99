#include "core/team_workers.hpp"

#include <sched.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace cosmic {
namespace {

// Regions of a training step follow each other within microseconds and last up to milliseconds.
// Waiting without a system call costs the least, so that comes first. Then the core is offered to
// other threads at every turn: one of them may be what we wait for. When nothing has come for long,
// a wake-up, some 50 microseconds, no longer matters.
constexpr auto kSpinning = std::chrono::microseconds(50);
constexpr auto kYielding = std::chrono::milliseconds(1);
// An offer that nobody takes returns within a microsecond. Where one was taken, others want this
// core, and spinning keeps them from it: the next waits offer it nearly at once.
constexpr auto kTaken = std::chrono::microseconds(20);
constexpr auto kSpinningInACrowd = std::chrono::microseconds(2);
constexpr int kLooksPerTurn = 32;

thread_local bool in_a_crowd = false;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns once `number` is no longer `old`.
void wait_for_change(const std::atomic<std::uint32_t>& number, std::uint32_t old) {
  using Clock = std::chrono::steady_clock;
  const auto changed = [&] { return number.load(std::memory_order_acquire) != old; };
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point now = begin; now - begin < kYielding;) {
    for (int look = 0; look < kLooksPerTurn; ++look) {
      if (changed()) {
        return;
      }
      pause_briefly();
    }
    now = Clock::now();
    if (now - begin > (in_a_crowd ? kSpinningInACrowd : kSpinning)) {
      sched_yield();
      in_a_crowd = Clock::now() - now > kTaken;
    }
  }
  number.wait(old, std::memory_order_acquire);
}

void change(std::atomic<std::uint32_t>& number) {
  number.fetch_add(1, std::memory_order_release);
  number.notify_all();
}

// Inside a region a thread has its share of the cores already.
thread_local bool in_region = false;

}  // namespace

/// Where a caller and its workers meet. The first three numbers are on lines of their own: each is
/// written by one side while the other looks at it.
struct TeamWorkers::Meeting {
  alignas(64) std::atomic<std::uint32_t> regions{0};  ///< begun; a worker waits for the next
  alignas(64) std::atomic<std::uint32_t> ends{0};     ///< the caller waits for the next
  alignas(64) std::atomic<int> working{0};            ///< workers that have not finished the region
  std::atomic<int> present{1};                        ///< the caller and its workers

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
    change(meeting_->regions);
    meeting_->leave();
  }
}

void TeamWorkers::work(Meeting* meeting, int index, std::uint32_t regions_before) {
  in_region = true;
  for (std::uint32_t region = regions_before;; ++region) {
    wait_for_change(meeting->regions, region);
    if (meeting->call == nullptr) {
      break;
    }
    meeting->make_parts(index);
    if (meeting->working.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      change(meeting->ends);
    }
  }
  meeting->leave();
}

void TeamWorkers::engage(int workers) {
  if (meeting_ == nullptr) {
    meeting_ = new Meeting;
  }
  const std::uint32_t regions = meeting_->regions.load(std::memory_order_relaxed);
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
  const std::uint32_t end = meeting_->ends.load(std::memory_order_relaxed);
  if (workers_ > 0) {
    change(meeting_->regions);
  }
  meeting_->make_parts(0);
  if (workers_ > 0) {
    wait_for_change(meeting_->ends, end);
  }
  in_region = false;
}

}  // namespace cosmic
