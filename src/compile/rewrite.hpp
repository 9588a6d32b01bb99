// The loop every rewriting pass shares: copy a graph node by node, with a chance to put something
// else in a node's place.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "graph/builder.hpp"

namespace cosmic::compile {

/// Sees node `id` of the old graph and its operands in the new one. Returns the value that takes
/// the node's place, after appending whatever that needs; nothing to copy the node as it is.
using Replace = std::function<std::optional<graph::ValueId>(
    graph::Builder& to, graph::ValueId id, std::span<const graph::ValueId> operands)>;

/// Inputs, outputs, states and updates follow their values. States the replacement adds come last.
graph::Graph rewrite(const graph::Graph& graph, const Replace& replace);

/// Gives `to` the inputs, outputs, states, updates, guards and numerics of `from`, value i now
/// being map[i]. States that `to` already has come after.
void copy_boundary(const graph::Graph& from, const std::vector<graph::ValueId>& map,
                   graph::Graph& to);

}  // namespace cosmic::compile
