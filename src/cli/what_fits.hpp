// Answers a run that does not fit its machine with the settings that would make it fit.
#pragma once

#include <functional>

#include "config/configuration.hpp"

namespace cosmic::cli {

/// What a command compiles with mode=train. Inference is one program.
enum class TrainingPrograms { step, step_and_validation };

/// Does `run`, which runs a network with these settings. If a program certainly does not fit, this
/// announces on the error stream that it looks for settings that would, and throws a TargetError
/// that ends with them. They were tested: with them the same programs compile.
void run_or_say_what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                          const std::function<void()>& run);

}  // namespace cosmic::cli
