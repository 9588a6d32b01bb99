#include "train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "core/error.hpp"

namespace cosmic::train {
namespace {

// The reference's fixed numbers; only the peak can be configured there.
constexpr double kReferenceBase = 1e-4;
constexpr double kReferenceDecay = 0.999;  // per epoch
constexpr double kReferenceWarmUpEpochs = 1;
constexpr double kReferenceDecayBegins = 21;  // epochs
constexpr double kWarmUpStart = 1e-6;
constexpr double kDecay = 0.01;  // per update

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

double linear(double start, double stop, std::int64_t step, std::int64_t length) {
  return start + as_double(step) * (stop - start) / as_double(length);
}

double decayed(double start, double floor, std::int64_t step) {
  return (start - floor) * std::exp(-kDecay * as_double(step)) + floor;
}

double rate(const ReferenceSchedule& schedule, std::int64_t step) {
  // The ratio first, as in the reference: the last bits depend on it.
  const double epochs_per_step =
      as_double(schedule.minibatch_size) / as_double(schedule.train_size);
  const double epoch = as_double(step) * epochs_per_step;
  if (epoch < kReferenceWarmUpEpochs) {
    return kReferenceBase + epoch * (schedule.peak - kReferenceBase);
  }
  if (epoch < kReferenceDecayBegins) {
    return schedule.peak;
  }
  return (schedule.peak - kReferenceBase) *
             std::exp(-kReferenceDecay * (epoch - kReferenceDecayBegins)) +
         kReferenceBase;
}

double rate(const FlatSchedule& schedule, std::int64_t) {
  return schedule.peak;
}

double rate(const StandardSchedule& schedule, std::int64_t step) {
  const std::int64_t warm_up = schedule.length.updates_per_epoch;
  const std::int64_t decay_begins =
      (schedule.length.epochs - schedule.decay_epochs) * schedule.length.updates_per_epoch;
  if (step < warm_up) {
    return linear(kWarmUpStart, schedule.peak, step, warm_up);
  }
  return step < decay_begins ? schedule.peak
                             : decayed(schedule.peak, schedule.floor, step - decay_begins);
}

double rate(const OneCycleSchedule& schedule, std::int64_t step) {
  const std::int64_t cycle =
      (schedule.length.epochs - schedule.decay_epochs) * schedule.length.updates_per_epoch;
  const std::int64_t up = cycle / 2;
  if (step < up) {
    return linear(schedule.minimum, schedule.peak, step, up);
  }
  return step < cycle ? linear(schedule.peak, schedule.minimum, step - up, cycle - up)
                      : decayed(schedule.minimum, schedule.floor, step - cycle);
}

double rate(const CosineSchedule& schedule, std::int64_t step) {
  if (step < schedule.warm_up) {
    return linear(0, schedule.peak, step + 1, schedule.warm_up + 1);
  }
  const std::int64_t falling = std::max<std::int64_t>(schedule.updates - 1 - schedule.warm_up, 1);
  const double done = as_double(std::min(step - schedule.warm_up, falling)) / as_double(falling);
  return schedule.floor +
         (schedule.peak - schedule.floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

void require_rate(std::string_view key, double value) {
  COSMIC_REQUIRE(
      UserError, std::isfinite(value) && value >= 0,
      "the schedule's "
          << key << " is " << value
          << " (a learning rate must be finite and not negative); give one such as 3e-4");
}

/// `before_last` epochs are taken by parts of the schedule that need one more beside them.
void require_length(const ScheduleLength& length, std::int64_t before_last) {
  COSMIC_REQUIRE(UserError, length.updates_per_epoch > 0,
                 "an epoch of the schedule has " << length.updates_per_epoch
                                                 << " updates (fewer events than one minibatch?); "
                                                    "use a smaller minibatch_size");
  COSMIC_REQUIRE(UserError, length.epochs > before_last,
                 "the schedule has "
                     << length.epochs << " epochs, its parts take more than " << before_last
                     << " (they come one after the other); train longer or reduce decay_epochs");
}

void require_decay(std::int64_t decay_epochs) {
  COSMIC_REQUIRE(
      UserError, decay_epochs >= 0,
      "decay_epochs is " << decay_epochs << " (a length cannot be negative); use 0 or more");
}

void check(const ReferenceSchedule& schedule) {
  require_rate("peak", schedule.peak);
  COSMIC_REQUIRE(UserError, schedule.minibatch_size > 0 && schedule.train_size > 0,
                 "minibatch_size is " << schedule.minibatch_size << " and the training data has "
                                      << schedule.train_size
                                      << " events (their ratio is the length of an epoch); both "
                                         "must be positive");
}

void check(const FlatSchedule& schedule) {
  require_rate("peak", schedule.peak);
  require_length(schedule.length, 0);
}

void check(const StandardSchedule& schedule) {
  require_rate("peak", schedule.peak);
  require_rate("floor", schedule.floor);
  require_decay(schedule.decay_epochs);
  require_length(schedule.length, schedule.decay_epochs);
}

void check(const OneCycleSchedule& schedule) {
  require_rate("peak", schedule.peak);
  require_rate("minimum", schedule.minimum);
  require_rate("floor", schedule.floor);
  require_decay(schedule.decay_epochs);
  require_length(schedule.length, schedule.decay_epochs);
}

void check(const CosineSchedule& schedule) {
  require_rate("peak", schedule.peak);
  require_rate("floor", schedule.floor);
  COSMIC_REQUIRE(UserError, schedule.updates > 0,
                 "a cosine schedule without an end (it falls to its floor at the last update, and "
                 "this run has none); give run.iterations or run.length");
  COSMIC_REQUIRE(UserError, schedule.warm_up >= 0 && schedule.warm_up < schedule.updates,
                 "mode.optimizer.warmup_iterations is "
                     << schedule.warm_up << " in a run of " << schedule.updates
                     << " updates (the rate would never reach its peak); use fewer, or train "
                        "longer");
}

bool has_ended(const ReferenceSchedule&, std::int64_t) {
  return false;
}
bool has_ended(const CosineSchedule&, std::int64_t) {
  return false;
}

template <class WithLength>
bool has_ended(const WithLength& schedule, std::int64_t step) {
  return step >= schedule.length.updates();
}

}  // namespace

void validate(const Schedule& schedule) {
  std::visit([](const auto& one) { check(one); }, schedule);
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  return std::visit([&](const auto& one) { return has_ended(one, step) ? 0.0 : rate(one, step); },
                    schedule);
}

double average_decay(double decay, std::int64_t step) {
  return std::min(decay, (1 + as_double(step)) / (10 + as_double(step)));
}

}  // namespace cosmic::train
