// Learning rates as pure functions of the update's number, so that a run resumes its schedule by
// knowing where it was. Rates are absolute.
#pragma once

#include <cstdint>
#include <variant>

namespace cosmic::train {

/// The reference's: one epoch from 1e-4 to the peak, twenty at the peak, then exponentially back to
/// 1e-4 for as long as the run takes. An epoch is `train_size / minibatch_size` updates, whatever
/// the gradient accumulation.
struct ReferenceSchedule {
  double peak = 3e-4;
  std::int64_t minibatch_size = 1;
  std::int64_t train_size = 1;

  bool operator==(const ReferenceSchedule&) const = default;
};

/// How long a schedule of the reference's version 2.1 is. Beyond its end the rate is 0.
struct ScheduleLength {
  std::int64_t epochs = 25;
  std::int64_t updates_per_epoch = 1;

  std::int64_t updates() const { return epochs * updates_per_epoch; }
  bool operator==(const ScheduleLength&) const = default;
};

/// The peak, always.
struct FlatSchedule {
  double peak = 1e-3;
  ScheduleLength length;

  bool operator==(const FlatSchedule&) const = default;
};

/// One epoch from 1e-6 to the peak, then the peak, in the last epochs down to the floor.
struct StandardSchedule {
  double peak = 1e-3;
  double floor = 1e-4;
  std::int64_t decay_epochs = 5;
  ScheduleLength length;

  bool operator==(const StandardSchedule&) const = default;
};

/// Up from the minimum to the peak in one half, back in the other, in the last epochs from the
/// minimum down to the floor.
struct OneCycleSchedule {
  double peak = 1e-3;
  double minimum = 1e-3;
  double floor = 1e-4;
  std::int64_t decay_epochs = 5;
  ScheduleLength length;

  bool operator==(const OneCycleSchedule&) const = default;
};

/// Up from near zero to the peak in the first updates, then along a half cosine down to the floor,
/// which the last update has. Beyond it the rate is the floor.
struct CosineSchedule {
  double peak = 1e-3;
  double floor = 0;
  std::int64_t warm_up = 0;  ///< updates before the peak
  std::int64_t updates = 1;  ///< of the whole run

  bool operator==(const CosineSchedule&) const = default;
};

using Schedule = std::variant<ReferenceSchedule, FlatSchedule, StandardSchedule, OneCycleSchedule,
                              CosineSchedule>;

/// Throws UserError for rates or lengths that cannot be.
void validate(const Schedule& schedule);

/// The rate of update `step`, 0 for the first one in the life of the run, restarts included.
double learning_rate(const Schedule& schedule, std::int64_t step);

/// The decay of a moving average in update `step`: at first smaller than the one it is to have, so
/// that an average of a few updates is one of these and not of the weights before training.
double average_decay(double decay, std::int64_t step);

}  // namespace cosmic::train
