// Which layers' results to keep in a training step if the rest is computed again.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::machine {

/// The step with recomputation between the checkpoints that need the least memory on the fullest
/// stage, among evenly spaced ones. A pipeline keeps those of every run that is under way.
graph::Graph with_recomputation(const graph::Graph& step);

/// The names of those checkpoints; none if keeping everything needs the least.
std::vector<std::string> best_checkpoints(const graph::Graph& step);

}  // namespace cosmic::machine
