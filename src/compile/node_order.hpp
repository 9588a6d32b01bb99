// The nodes of a program in another order.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

/// Nodes that are to come right after another one, in this order.
using Followers = std::map<graph::ValueId, std::vector<graph::ValueId>>;

/// The same program with the followers behind their leaders. Every operand must still come before
/// its readers; inputs and states may be put first, which computes nothing earlier.
enum class Sources { stay, come_first };
graph::Graph with_followers(const graph::Graph& graph, const Followers& followers, Sources sources);

}  // namespace cosmic::compile
