// This host as a machine whose runs can be predicted: what it has and how fast it is, measured now.
#pragma once

#include <string>

#include "machine/description.hpp"

namespace cosmic::run {

/// `like` is the machine that this program's formulas for a host were fitted on; what is measured
/// here takes the place of its figures. Measuring takes about a fifth of a second.
machine::Description this_host(machine::Description like, const std::string& target);

}  // namespace cosmic::run
