// Commands that answer a network too large for its machine with settings that would make it fit.
#pragma once

#include <functional>

#include "config/configuration.hpp"
#include "run/what_fits.hpp"

namespace cosmic::cli {

using run::TrainingPrograms;

/// Does `command`, which runs a network with these settings. Where a program surely does not fit,
/// says on the error stream that it looks for what would; the TargetError that it throws then ends
/// with what it found.
void run_or_say_what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                          const std::function<void()>& command);

}  // namespace cosmic::cli
