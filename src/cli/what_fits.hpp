// Commands that answer a network too large for its machine with settings that would make it fit.
#pragma once

#include <functional>

#include "config/configuration.hpp"
#include "core/error.hpp"
#include "run/what_fits.hpp"

namespace cosmic::cli {

using run::TrainingPrograms;

/// It does not fit the machine, which is no fault of the machine: it has an exit status of its own.
class DoesNotFit : public TargetError {
 public:
  using TargetError::TargetError;
};

/// Does `command`, which runs a network with these settings. Where a program surely does not fit,
/// says on the error stream that it looks for what would; the DoesNotFit that it throws then ends
/// with what it found.
void run_or_say_what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                          const std::function<void()>& command);

}  // namespace cosmic::cli
