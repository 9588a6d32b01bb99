// Where the time of the last call went, and how much it did.
#pragma once

#include <cstdint>

#include "target/target.hpp"

namespace cosmic::session {

/// Seconds per micro-batch, over the micro-batches of a call.
struct Latency {
  double least = 0;
  double most = 0;
  double mean = 0;
};

struct CallStatistics {
  Latency host_to_target;
  Latency compute;
  Latency target_to_host;
  double update_seconds = 0;  ///< of updates from accumulated gradients, all together
  double seconds = 0;         ///< of the whole call, as its caller sees it
  std::int64_t micro_batches = 0;
  std::int64_t updates = 0;
  std::int64_t bytes_to_target = 0;
  std::int64_t bytes_to_host = 0;
  std::int64_t calls = 0;  ///< since compiling
};

/// Adds up one call. Allocates nothing.
class CallRecorder {
 public:
  void begin();
  void add_micro_batch(const target::RunTimes& times);
  /// An update that is a program of its own, because gradients were accumulated for it.
  void add_update(const target::RunTimes& times);
  /// An update that was part of a micro-batch.
  void count_update() { ++current_.updates; }
  void end(double seconds);

  const CallStatistics& last() const { return last_; }

 private:
  CallStatistics current_;
  CallStatistics last_;
};

}  // namespace cosmic::session
