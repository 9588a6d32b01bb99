// How fast a network trains or tags events, without files, logs or the first calls, which prepare
// what later ones find ready.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/provenance.hpp"
#include "data/dense_image.hpp"
#include "machine/event_rate.hpp"
#include "machine/prediction.hpp"
#include "session/device_memory.hpp"

namespace cosmic::run {

struct PerformanceOptions {
  data::DenseShape shape;
  std::int64_t calls = 10;        ///< that are measured
  std::int64_t calls_before = 2;  ///< that are not
};

/// Where a measurement is, for who shows it.
struct PerformanceProgress {
  std::int64_t calls = 0;  ///< made, those before the first that counts included
  std::int64_t all_calls = 0;
  double events_per_second = 0;                ///< of the latest call, on the host's clock
  std::optional<machine::EventRate> modelled;  ///< of a machine that is not here
};

struct Performance {
  std::string target;
  Provenance provenance = Provenance::measured;
  /// For a modelled target, whose clock times are the host's.
  std::optional<machine::Prediction> prediction;
  std::string events_from;
  std::vector<std::string> warnings;  ///< what was odd in these events
  double compile_seconds = 0;
  std::int64_t events_per_call = 0;
  std::int64_t events_per_run = 0;       ///< of the program: a call may run it several times
  std::vector<double> seconds;           ///< of each measured call
  std::int64_t program_bytes = 0;        ///< arena, scratch, prepared weights
  std::int64_t peak_resident_bytes = 0;  ///< of the whole process
  /// Of a target with memory of its own.
  std::optional<session::DeviceMemoryPlan> device_memory;

  double events_per_second() const;
  double least_seconds() const;
  double median_seconds() const;
  double most_seconds() const;
};

Performance measure_performance(
    const config::Configuration& configuration, const std::string& target,
    const PerformanceOptions& options,
    const std::function<void(const PerformanceProgress&)>& progress = {});

}  // namespace cosmic::run
