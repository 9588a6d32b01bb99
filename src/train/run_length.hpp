// How long a training run is, and its learning rates, as its configuration says.
#pragma once

#include <cstdint>

#include "config/configuration.hpp"
#include "train/schedule.hpp"

namespace cosmic::train {

/// Updates until the whole run ends, earlier starts included; 0 if it has no end.
std::int64_t last_step_of(const config::RunConfig& run, std::int64_t updates_per_epoch,
                          std::int64_t first_step);

/// `epoch_size` is the number of events, `updates` that of the whole run or 0 for no end.
Schedule schedule_of(const config::Configuration& configuration, std::int64_t epoch_size,
                     std::int64_t updates);

}  // namespace cosmic::train
