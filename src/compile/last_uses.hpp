// Until when the values of a program are needed.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

/// Index of the last node that needs each value in memory; the number of nodes for what is handed
/// out or becomes a state. A value that is not stored needs its operands for as long as it is
/// itself read.
std::vector<std::size_t> last_uses(const graph::Graph& graph);

}  // namespace cosmic::compile
