// What would make a run fit a machine, and what each way costs.
#pragma once

#include <string>

#include "cli/explained_run.hpp"

namespace cosmic::cli {

/// A table: smaller batches, fewer bits, recomputation and the like, each alone; then together, on
/// more and more machines, until it fits. Ends with the settings of the best that does.
std::string ways_to_fit(const machine::Description& machine, const RunChoice& asked);

/// The narrowest format that the machine computes in.
config::Precision narrow_precision(const machine::Description& machine);

}  // namespace cosmic::cli
