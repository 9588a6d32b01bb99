// Where the time of a whole training run went, in parts that do not overlap.
#pragma once

#include <vector>

#include "output/step_profile.hpp"
#include "report/profile/run_profile.hpp"

namespace cosmic::train {

/// `seconds` is the wall-clock time since the run began. The parts add up to it.
std::vector<report::profile::TimeShare> time_shares(const output::StepProfile& phases,
                                                    const report::profile::OpTimes& ops,
                                                    const session::CompileReport& compiled,
                                                    double seconds);

}  // namespace cosmic::train
