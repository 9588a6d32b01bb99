// Answers a run that does not fit its machine with the settings that would make it fit.
#pragma once

#include <functional>

#include "config/configuration.hpp"

namespace cosmic::cli {

/// What a command compiles with mode=train. Inference is one program.
enum class TrainingPrograms { step, step_and_validation };

/// Does `run`, which runs a network with these settings. Where a program surely does not fit, this
/// looks for what would make it fit, and says on the error stream that it does; the TargetError
/// that it throws then ends with settings to add. They were tried: with them the same programs
/// compile.
void run_or_say_what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                          const std::function<void()>& run);

}  // namespace cosmic::cli
