#include "output/step_profile.hpp"

#include <fmt/core.h>

#include <algorithm>

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

double seconds_of(nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

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

StepProfile::StepProfile(const Kept& kept) : kept_(kept) {
  COSMIC_ASSERT(kept.iterations >= IterationTimes::kLast && kept.iterations >= kept.traced);
}

void StepProfile::Total::add(Duration duration) {
  ++count;
  sum += duration;
  most = std::max(most, duration);
}

void StepProfile::begin_iteration(std::int64_t number, Clock::time_point now) {
  iterations_.push_back({.number = number, .start = now - origin_});
  if (iterations_.size() > kept_.iterations) {
    iterations_.pop_front();
  }
  stretches_of_.push_back(0);
  if (stretches_of_.size() > kept_.traced) {
    for (; stretches_of_.front() > 0; --stretches_of_.front()) {
      stretches_.pop_front();
    }
    stretches_of_.pop_front();
  }
}

void StepProfile::end_iteration(Clock::time_point now) {
  COSMIC_ASSERT(!iterations_.empty() && !iterations_.back().whole);
  Iteration& iteration = iterations_.back();
  iteration.whole = now - origin_ - iteration.start;
  whole_.add(*iteration.whole);
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    if (iteration.sums[phase] != Duration{}) {
      phases_[phase].add(iteration.sums[phase]);
    }
  }
  if (first_seconds_.size() < IterationTimes::kFirst) {
    first_seconds_.push_back(seconds_of(*iteration.whole));
  }
  trace(std::nullopt, origin_ + iteration.start, now);
}

void StepProfile::add(Phase phase, Clock::time_point begin, Clock::time_point end) {
  COSMIC_ASSERT(!iterations_.empty());
  iterations_.back().sums[static_cast<std::size_t>(phase)] += end - begin;
  trace(phase, begin, end);
}

void StepProfile::trace(std::optional<Phase> phase, Clock::time_point begin,
                        Clock::time_point end) {
  if (!stretches_of_.empty()) {
    stretches_.push_back({iterations_.back().number, phase, begin - origin_, end - begin});
    ++stretches_of_.back();
  }
}

std::vector<nanoseconds> StepProfile::durations(std::optional<Phase> phase) const {
  std::vector<Duration> result;
  for (const Iteration& iteration : iterations_) {
    if (iteration.whole) {
      const Duration duration =
          phase ? iteration.sums[static_cast<std::size_t>(*phase)] : *iteration.whole;
      if (!phase || duration != Duration{}) {
        result.push_back(duration);
      }
    }
  }
  return result;
}

IterationTimes StepProfile::iteration_times() const {
  IterationTimes times{whole_.count, seconds_of(whole_.sum), first_seconds_, {}};
  const std::vector<Duration> latest = durations(std::nullopt);
  const std::size_t last = std::min(latest.size(), IterationTimes::kLast);
  for (std::size_t i = latest.size() - last; i < latest.size(); ++i) {
    times.last.push_back(seconds_of(latest[i]));
  }
  return times;
}

double StepProfile::latest_seconds(Phase phase) const {
  COSMIC_ASSERT(!iterations_.empty());
  return seconds_of(iterations_.back().sums[static_cast<std::size_t>(phase)]);
}

double StepProfile::all_seconds(Phase phase) const {
  Duration sum = phases_[static_cast<std::size_t>(phase)].sum;
  if (!iterations_.empty() && !iterations_.back().whole) {
    sum += iterations_.back().sums[static_cast<std::size_t>(phase)];
  }
  return seconds_of(sum);
}

std::string StepProfile::table() const {
  std::string text = fmt::format("{:<12} {:>10} {:>12} {:>12} {:>12} {:>8}\n", "phase",
                                 "iterations", "median ms", "most ms", "sum s", "share");
  const auto add_row = [&](std::optional<Phase> phase) {
    const Total& total = phase ? phases_[static_cast<std::size_t>(*phase)] : whole_;
    std::vector<Duration> values = durations(phase);
    if (values.empty()) {
      return;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    text += fmt::format("{:<12} {:>10} {:>12.3f} {:>12.3f} {:>12.3f} {:>7.1f}%\n", name_of(phase),
                        total.count, milliseconds_of(*middle), milliseconds_of(total.most),
                        seconds_of(total.sum),
                        100.0 * static_cast<double>(total.sum.count()) /
                            static_cast<double>(std::max<std::int64_t>(whole_.sum.count(), 1)));
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
        microseconds_of(stretch.duration), stretch.iteration);
  }
  json += "\n]}\n";
  write_whole_file(path, json, existing);
}

}  // namespace cosmic::output
