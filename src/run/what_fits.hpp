// Answers a run that does not fit its machine with the settings that would make it fit.
#pragma once

#include <string>

#include "config/configuration.hpp"
#include "session/capacity_error.hpp"

namespace cosmic::run {

/// What a run compiles with mode=train. Inference is one program.
enum class TrainingPrograms { step, step_and_validation };

/// Why the run was refused, and settings to add to it. They were tried: with them the same programs
/// compile. Takes a few seconds for a large network.
std::string what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                      const session::CapacityError& refusal);

}  // namespace cosmic::run
