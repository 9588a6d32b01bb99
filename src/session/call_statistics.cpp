#include "session/call_statistics.hpp"

#include <algorithm>

namespace cosmic::session {
namespace {

/// While a call runs, `mean` is the sum.
void add_to(Latency& latency, double seconds, bool first) {
  latency.least = first ? seconds : std::min(latency.least, seconds);
  latency.most = std::max(latency.most, seconds);
  latency.mean += seconds;
}

}  // namespace

void CallRecorder::begin() {
  current_ = {};
}

void CallRecorder::add_micro_batch(const target::RunTimes& times) {
  const bool first = current_.micro_batches == 0;
  add_to(current_.host_to_target, times.host_to_target_seconds, first);
  add_to(current_.compute, times.compute_seconds, first);
  add_to(current_.target_to_host, times.target_to_host_seconds, first);
  current_.bytes_to_target += times.bytes_to_target;
  current_.bytes_to_host += times.bytes_to_host;
  ++current_.micro_batches;
}

void CallRecorder::add_update(const target::RunTimes& times) {
  current_.update_seconds += times.compute_seconds;
  current_.bytes_to_target += times.bytes_to_target;
  ++current_.updates;
}

void CallRecorder::end(double seconds) {
  const auto batches = static_cast<double>(std::max<std::int64_t>(current_.micro_batches, 1));
  for (Latency* latency : {&current_.host_to_target, &current_.compute, &current_.target_to_host}) {
    latency->mean /= batches;
  }
  current_.seconds = seconds;
  current_.calls = last_.calls + 1;
  last_ = current_;
}

}  // namespace cosmic::session
