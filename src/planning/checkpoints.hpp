// Which layers' results to keep in a training step if the rest is computed again.
#pragma once

#include "graph/graph.hpp"

namespace cosmic::planning {

/// The step with recomputation between the checkpoints that need the least memory on the fullest
/// stage, among evenly spaced ones. A pipeline keeps those of every run that is under way.
graph::Graph with_recomputation(const graph::Graph& step);

}  // namespace cosmic::planning
