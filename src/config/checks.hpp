// What single values cannot say: settings that do not go together, or ask for what the program does
// not have.
#pragma once

#include "config/configuration.hpp"

namespace cosmic::config {

/// Throws UserError naming the settings, why they cannot be, and what to do.
void check(const Configuration& configuration);

}  // namespace cosmic::config
