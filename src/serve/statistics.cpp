#include "serve/statistics.hpp"

#include <algorithm>
#include <chrono>

namespace cosmic::serve {

void CountedTime::add(double seconds) {
  constexpr double kNanosecondsPerSecond = 1e9;
  ++count;
  nanoseconds += static_cast<std::uint64_t>(std::max(seconds, 0.0) * kNanosecondsPerSecond);
}

CountedTime ModelStatistics::all_failures() const {
  CountedTime all;
  for (const auto& [reason, failed] : failures) {
    all.count += failed.count;
    all.nanoseconds += failed.nanoseconds;
  }
  return all;
}

void StatisticsKeeper::add_success(const CallTimes& times, double seconds, std::size_t events) {
  using std::chrono::system_clock;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch());
  const std::lock_guard lock(mutex_);
  statistics_.last_inference_ms = static_cast<std::uint64_t>(now.count());
  statistics_.inferences += events;
  statistics_.success.add(seconds);
  statistics_.queue.add(times.queue);
  statistics_.input.add(times.input);
  statistics_.infer.add(times.infer);
  statistics_.output.add(times.output);
  const auto bucket = std::lower_bound(kDurationBuckets.begin(), kDurationBuckets.end(), seconds);
  ++statistics_.durations[static_cast<std::size_t>(bucket - kDurationBuckets.begin())];
}

void StatisticsKeeper::add_failure(Reason reason, double seconds) {
  const std::lock_guard lock(mutex_);
  statistics_.failures[reason].add(seconds);
}

void StatisticsKeeper::add_batch(std::int64_t size, const BatchTimes& times) {
  const std::lock_guard lock(mutex_);
  ++statistics_.executions;
  BatchStatistics& batch = statistics_.batches[size];
  batch.input.add(times.input);
  batch.infer.add(times.infer);
  batch.output.add(times.output);
}

ModelStatistics StatisticsKeeper::now() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace cosmic::serve
