// What would make a run fit a machine, and what each way costs.
#pragma once

#include <string>
#include <vector>

#include "run/explained_run.hpp"

namespace cosmic::run {

/// One way that was tried.
struct Way {
  RunChoice choice;
  machine::ComparedRun run;

  bool was_refused() const { return !run.refused.empty(); }
  machine::Fit fits() const;
  /// Machine time per event, summed over all machines.
  machine::ModelledTime machine_time() const;
};

/// As asked; smaller batches, fewer bits, recomputation and the like, each alone; then together, on
/// more and more machines, until it fits.
std::vector<Way> ways_tried(const machine::Description& machine, const RunChoice& asked);

/// Of those that certainly fit, the one with the most events per second and machine; null if none
/// does.
const Way* best_way(const std::vector<Way>& ways);

/// A table of those. Ends with the settings of the best that fits.
std::string ways_to_fit(const machine::Description& machine, const RunChoice& asked);

/// The narrowest format that the machine computes in.
config::Precision narrow_precision(const machine::Description& machine);

}  // namespace cosmic::run
