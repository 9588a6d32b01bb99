// What was asked of a model and how long it took, counted as Triton counts it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "serve/scheduler.hpp"

namespace cosmic::serve {

/// How often, and how long in all.
struct CountedTime {
  std::uint64_t count = 0;
  std::uint64_t nanoseconds = 0;

  void add(double seconds);
};

struct BatchStatistics {
  CountedTime input;
  CountedTime infer;
  CountedTime output;
};

/// Upper ends of the buckets of request durations, in seconds.
inline constexpr std::array kDurationBuckets{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25,  0.5,    1.0,   2.5,  5.0,   10.0, 30.0};

struct ModelStatistics {
  std::uint64_t last_inference_ms = 0;  ///< since 1970
  std::uint64_t inferences = 0;         ///< events that have scores
  std::uint64_t executions = 0;         ///< batches
  CountedTime success;                  ///< requests
  CountedTime queue;
  CountedTime input;
  CountedTime infer;
  CountedTime output;
  std::map<Reason, CountedTime> failures;
  std::map<std::int64_t, BatchStatistics> batches;                     ///< by size
  std::array<std::uint64_t, kDurationBuckets.size() + 1> durations{};  ///< the last is the rest

  CountedTime all_failures() const;
};

/// Any thread may add to it.
class StatisticsKeeper {
 public:
  void add_success(const CallTimes& times, double seconds, std::size_t events);
  void add_failure(Reason reason, double seconds);
  void add_batch(std::int64_t size, const BatchTimes& times);
  ModelStatistics now() const;

 private:
  mutable std::mutex mutex_;
  ModelStatistics statistics_;
};

}  // namespace cosmic::serve
