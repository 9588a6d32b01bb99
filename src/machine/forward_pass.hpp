// Which nodes of a program are its forward pass.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace cosmic::machine {

/// Whether each node is something that results or running statistics are made of. In a training
/// step the rest is the backward pass, what is computed again for it, and the update.
std::vector<bool> forward_pass(const graph::Graph& graph);

}  // namespace cosmic::machine
