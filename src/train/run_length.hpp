// How long a training run is, and its learning rates, as its configuration says.
#pragma once

#include <cstdint>

#include "config/configuration.hpp"
#include "train/schedule.hpp"

namespace cosmic::train {

/// Where a start of a run is in its life.
struct RunStart {
  std::int64_t began_at = 0;    ///< step of the weights of another run that it began with
  std::int64_t first_step = 0;  ///< of this start
};

/// The step that the whole run ends with, earlier starts included; 0 if it has no end.
std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          const RunStart& start);

/// `epoch_size` is the number of events, `updates` that of the whole run or 0 for no end.
Schedule schedule_of(const config::Configuration& configuration, std::int64_t epoch_size,
                     std::int64_t updates);

}  // namespace cosmic::train
