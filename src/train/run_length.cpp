#include "train/run_length.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::train {

std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          std::int64_t first_step) {
  if (run.length > 0) {
    return run.units == config::LengthUnit::epoch ? run.length * updates_per_epoch : run.length;
  }
  return run.iterations > 0 ? first_step + run.iterations : 0;
}

Schedule schedule_of(const config::Configuration& configuration, std::int64_t epoch_size,
                     std::int64_t updates) {
  const config::OptimizerConfig& optimizer = configuration.mode.optimizer;
  const std::int64_t batch = configuration.run.minibatch_size;
  const std::int64_t updates_per_epoch = std::max<std::int64_t>(epoch_size / batch, 1);
  // A schedule with an end lasts as long as the run; one without an end has an end far away.
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  const std::int64_t epochs =
      ((updates > 0 ? updates : kEndless) + updates_per_epoch - 1) / updates_per_epoch;
  const ScheduleLength length{epochs, updates_per_epoch};
  switch (optimizer.schedule) {
    case config::Schedule::reference:
      return ReferenceSchedule{optimizer.learning_rate, batch, epoch_size};
    case config::Schedule::flat:
      return FlatSchedule{optimizer.learning_rate, length};
    case config::Schedule::warmup_flat_decay:
      return StandardSchedule{optimizer.learning_rate, optimizer.floor_learning_rate,
                              optimizer.decay_epochs, length};
    case config::Schedule::one_cycle:
      return OneCycleSchedule{optimizer.learning_rate, optimizer.minimum_learning_rate,
                              optimizer.floor_learning_rate, optimizer.decay_epochs, length};
  }
  COSMIC_ASSERT(false);
}

}  // namespace cosmic::train
