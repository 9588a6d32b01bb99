#include "train/run_length.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/checked_product.hpp"
#include "core/error.hpp"

namespace cosmic::train {

namespace {

/// A billion updates a second would take eleven days. Below it, every number of updates is exact in
/// floating point, and a schedule can count in epochs without running over.
constexpr std::int64_t kMostUpdates = 1'000'000'000'000'000;

std::int64_t allowed(std::optional<std::int64_t> updates, std::string_view key, std::int64_t value,
                     std::string_view how) {
  COSMIC_REQUIRE(UserError, updates && *updates <= kMostUpdates,
                 key << " = " << value << how << " (a run has at most " << kMostUpdates
                     << " updates); choose a smaller " << key
                     << ", or let run.max_time end the run");
  return *updates;
}

}  // namespace

std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          const RunStart& start) {
  if (run.length > 0 && run.units == config::LengthUnit::epoch) {
    return allowed(checked_product({run.length, updates_per_epoch}), "run.length", run.length,
                   " epochs of " + std::to_string(updates_per_epoch) + " updates");
  }
  if (run.length > 0) {
    return allowed(run.length, "run.length", run.length, "");
  }
  if (run.iterations == 0) {
    return 0;
  }
  const std::int64_t from =
      run.restart == config::Restart::again ? start.first_step : start.began_at;
  return allowed(checked_sum(from, run.iterations), "run.iterations", run.iterations,
                 " after " + std::to_string(from) + " updates");
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
    case config::Schedule::cosine:
      return CosineSchedule{optimizer.learning_rate, optimizer.floor_learning_rate,
                            optimizer.warmup_iterations, updates};
  }
  COSMIC_ASSERT(false);
}

}  // namespace cosmic::train
