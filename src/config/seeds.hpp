// A seed of 0 means "any". Before a run starts, a seed is chosen, so that the saved run can be
// reproduced.
#pragma once

#include <cstdint>

#include "config/configuration.hpp"

namespace cosmic::config {

/// Seeds that are 0 take those of the run that is resumed.
void keep_seeds(Configuration& configuration, const Configuration& before);

/// run.seed takes `fresh`, from the clock for example; data.seed and framework.seed take run.seed;
/// each only where it is 0. `fresh` is not 0.
void settle_seeds(Configuration& configuration, std::int64_t fresh);

}  // namespace cosmic::config
