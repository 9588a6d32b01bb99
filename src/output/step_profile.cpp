#include "output/step_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "core/whole_file.hpp"

namespace cosmic::output {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::array<Phase, kPhases> kAllPhases{Phase::train, Phase::val,        Phase::io,
                                                Phase::step,  Phase::checkpoint, Phase::summary,
                                                Phase::log,   Phase::predictions};
constexpr const char* kIteration = "iteration";

double milliseconds_of(nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double microseconds_of(nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

std::string name_of(const std::optional<Phase>& phase) {
  return phase ? to_string(*phase) : kIteration;
}

}  // namespace

std::string to_string(Phase phase) {
  switch (phase) {
    case Phase::train:
      return "train";
    case Phase::val:
      return "val";
    case Phase::io:
      return "io";
    case Phase::step:
      return "step";
    case Phase::checkpoint:
      return "checkpoint";
    case Phase::summary:
      return "summary";
    case Phase::log:
      return "log";
    case Phase::predictions:
      return "predictions";
  }
  throw InternalError("unknown phase of an iteration");
}

StepProfile::StepProfile(std::size_t traced_iterations) : traced_iterations_(traced_iterations) {}

void StepProfile::begin_iteration(std::int64_t number, Clock::time_point now) {
  iterations_.push_back({.number = number, .start = now - origin_});
  while (!stretches_.empty() &&
         stretches_.front().iteration + traced_iterations_ < iterations_.size()) {
    stretches_.pop_front();
  }
}

void StepProfile::end_iteration(Clock::time_point now) {
  COSMIC_ASSERT(!iterations_.empty() && !iterations_.back().whole);
  Iteration& iteration = iterations_.back();
  iteration.whole = now - origin_ - iteration.start;
  trace(std::nullopt, origin_ + iteration.start, now);
}

void StepProfile::add(Phase phase, Clock::time_point begin, Clock::time_point end) {
  COSMIC_ASSERT(!iterations_.empty());
  iterations_.back().sums[static_cast<std::size_t>(phase)] += end - begin;
  trace(phase, begin, end);
}

void StepProfile::trace(std::optional<Phase> phase, Clock::time_point begin,
                        Clock::time_point end) {
  if (traced_iterations_ > 0) {
    stretches_.push_back({iterations_.size() - 1, phase, begin - origin_, end - begin});
  }
}

std::vector<nanoseconds> StepProfile::durations(std::optional<Phase> phase) const {
  std::vector<Duration> result;
  for (const Iteration& iteration : iterations_) {
    if (iteration.whole) {
      result.push_back(phase ? iteration.sums[static_cast<std::size_t>(*phase)] : *iteration.whole);
    }
  }
  return result;
}

std::vector<double> StepProfile::iteration_seconds() const {
  std::vector<double> seconds;
  for (const Duration duration : durations(std::nullopt)) {
    seconds.push_back(std::chrono::duration<double>(duration).count());
  }
  return seconds;
}

double StepProfile::latest_seconds(Phase phase) const {
  COSMIC_ASSERT(!iterations_.empty());
  const Duration sum = iterations_.back().sums[static_cast<std::size_t>(phase)];
  return std::chrono::duration<double>(sum).count();
}

double StepProfile::all_seconds(Phase phase) const {
  Duration sum{};
  for (const Iteration& iteration : iterations_) {
    sum += iteration.sums[static_cast<std::size_t>(phase)];
  }
  return std::chrono::duration<double>(sum).count();
}

std::string StepProfile::table() const {
  std::string text = fmt::format("{:<12} {:>10} {:>12} {:>12} {:>12} {:>8}\n", "phase",
                                 "iterations", "median ms", "most ms", "sum s", "share");
  const std::vector<Duration> wholes = durations(std::nullopt);
  const Duration all = std::accumulate(wholes.begin(), wholes.end(), Duration{});
  const auto add_row = [&](std::optional<Phase> phase) {
    std::vector<Duration> values = durations(phase);
    std::erase(values, Duration{});  // iterations without this phase
    if (values.empty()) {
      return;
    }
    const Duration sum = std::accumulate(values.begin(), values.end(), Duration{});
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const Duration median = *middle;
    const Duration most = *std::max_element(values.begin(), values.end());
    text += fmt::format("{:<12} {:>10} {:>12.3f} {:>12.3f} {:>12.3f} {:>7.1f}%\n", name_of(phase),
                        values.size(), milliseconds_of(median), milliseconds_of(most),
                        std::chrono::duration<double>(sum).count(),
                        100.0 * static_cast<double>(sum.count()) /
                            static_cast<double>(std::max<std::int64_t>(all.count(), 1)));
  };
  add_row(std::nullopt);
  for (const Phase phase : kAllPhases) {
    add_row(phase);
  }
  return text;
}

void StepProfile::write_timeline(const std::filesystem::path& path, Provenance provenance, int rank,
                                 Existing existing) const {
  std::string json = fmt::format(
      "{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
      "{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"args\": {{\"name\": "
      "\"{}\"}}}}",
      rank, marked(fmt::format("rank {}", rank), provenance));
  for (const Stretch& stretch : stretches_) {
    json += fmt::format(
        ",\n{{\"name\": \"{}\", \"ph\": \"X\", \"pid\": {}, \"tid\": 0, \"ts\": {:.3f}, "
        "\"dur\": {:.3f}, \"args\": {{\"iteration\": {}}}}}",
        name_of(stretch.phase), rank, microseconds_of(stretch.start),
        microseconds_of(stretch.duration), iterations_[stretch.iteration].number);
  }
  json += "\n]}\n";
  write_whole_file(path, json, existing);
}

}  // namespace cosmic::output
