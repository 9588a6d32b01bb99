// Layers by name. A block is a layer with all that is inside it: "encoder" is "encoder" and every
// "encoder.*". People name blocks in options, and misspell them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

bool belongs_to(std::string_view layer, std::string_view block);

/// Whether the node computes something for a layer; inputs and states only have names of their own.
bool is_work(const graph::Node& node);

/// All blocks with work in them, from the outermost in, in program order.
std::vector<std::string> block_names(const graph::Graph& graph);

/// Throws UserError naming the option that named it, and the nearest block there is.
void require_block(const graph::Graph& graph, std::string_view option, const std::string& block);

}  // namespace cosmic::compile
