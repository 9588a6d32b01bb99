// One team of threads for everything in the process. The split of work depends only on the number
// of threads, never on timing, so the same thread count gives the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace cosmic {

/// Cores this process may use (honours affinity masks, so a batch system's share is respected).
int available_cores();

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool empty() const { return begin >= end; }
};

/// Part `part` of [0, count) cut into `parts` pieces that differ by at most one.
Range slice_of(std::int64_t count, int part, int parts);

/// A fixed number of threads that run the same function, each with its own index.
class Team {
 public:
  /// A handful of microseconds of vector arithmetic; a team meets and parts in one or two.
  static constexpr double kWorthWaking = 1e6;

  /// `worth_waking` is the least number of operations that more than one thread is woken for.
  explicit Team(int threads, double worth_waking = kWorthWaking);

  int size() const { return threads_; }

  /// The team for a piece of work: one thread alone, where waking the others would take longer than
  /// doing it. Depends on the size of the work alone, so results stay reproducible.
  Team for_work(double operations) const {
    return operations < worth_waking_ ? Team(1, worth_waking_) : *this;
  }

  /// Calls work(0) ... work(size() - 1) at the same time; returns when all have returned. `work`
  /// must not throw. A team of one calls it directly. Allocates nothing after the first call.
  template <class Work>
  void run(const Work& work) const {
    run_on_all([](const void* context, int index) { (*static_cast<const Work*>(context))(index); },
               &work);
  }

 private:
  void run_on_all(void (*call)(const void*, int), const void* context) const;

  int threads_;
  double worth_waking_;
};

}  // namespace cosmic
