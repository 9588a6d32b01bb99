// Puts events of many requests together into batches for a network that is compiled for a few batch
// sizes. Knows neither protocols nor networks: it is given calls, and runners that tag batches.
//
//   The queue is bounded in events: a call that does not fit is refused at once and costs nothing.
//   What is accepted is answered, also when the scheduler ends: with scores, or with the reason.
//   A replica that is free takes what waits, highest priority first: the largest batch that can be
//   filled. It waits for a fuller one only as long as `delay` allows.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "serve/tagging_call.hpp"

namespace cosmic::serve {

/// Of one batch, in seconds.
struct BatchTimes {
  double input = 0;
  double infer = 0;
  double output = 0;
};

/// A replica of a network. Belongs to one thread, which makes it too.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// Events of the batches that it has programs for, ascending.
  virtual const std::vector<std::int64_t>& batch_sizes() const = 0;
  /// Tags these events in a batch of `size`, which has room for them. Trouble with one event is set
  /// in it; what is thrown concerns all.
  virtual BatchTimes run(std::span<EventWork* const> events, std::span<const Wanted> wanted,
                         std::int64_t size) = 0;
};

/// How many batches may be computed at the same time in the whole process, whatever the number of
/// networks: so a budget of threads is kept.
class ComputeSlots {
 public:
  explicit ComputeSlots(int slots) : free_(slots) {}

  void take();
  void give_back();

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  int free_;
};

struct SchedulerOptions {
  int replicas = 1;
  std::int64_t queue_events = 64;      ///< that wait, beside those that are computed
  std::chrono::microseconds delay{0};  ///< a batch may wait for more events
  ComputeSlots* slots = nullptr;       ///< outlives the scheduler; null for no limit
  std::function<void(std::int64_t size, std::int64_t events, const BatchTimes&)> ran = {};
};

class Scheduler {
 public:
  using MakeRunner = std::function<std::unique_ptr<BatchRunner>(int replica)>;

  /// Makes the replicas, each on its own thread. Throws what the first of them threw.
  Scheduler(SchedulerOptions options, const MakeRunner& make);
  /// Drains.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Tags all events of the call; returns when each has a result or a refusal. Throws Refusal:
  /// overloaded at once; deadline and cancelled as soon as that is so (`cancelled` is asked now and
  /// then); unavailable after drain().
  void tag(
      const std::shared_ptr<TaggingCall>& call,
      const std::function<bool()>& cancelled = [] { return false; });

  /// Takes no more calls, and returns when all accepted ones are answered.
  void drain();

  std::int64_t waiting() const;
  std::int64_t capacity() const { return options_.queue_events; }
  int replicas() const { return options_.replicas; }
  std::int64_t largest_batch() const { return largest_batch_; }

 private:
  struct Waiting {
    std::shared_ptr<TaggingCall> call;
    std::size_t event;
  };

  void work(int replica, const MakeRunner& make, std::size_t& ready, std::exception_ptr& trouble);
  void serve(BatchRunner& runner);
  std::int64_t batch_now(const BatchRunner& runner) const;
  std::vector<Waiting> take(std::int64_t events);
  void run(BatchRunner& runner, std::span<const Waiting> batch, std::int64_t size);
  void accept(const std::shared_ptr<TaggingCall>& call);
  /// Takes the events of a call out of the queue.
  void forget(const TaggingCall& call);

  SchedulerOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::deque<Waiting>, kPriorities> queues_;
  std::int64_t waiting_ = 0;  ///< in all of them
  bool draining_ = false;
  std::int64_t largest_batch_ = 0;
  std::mutex drain_mutex_;  ///< one at a time joins the threads
  std::vector<std::thread> threads_;
};

}  // namespace cosmic::serve
