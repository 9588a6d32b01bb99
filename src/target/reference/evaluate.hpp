// The meaning of a graph: every node computed in double precision, one after the other. Slow on
// purpose; what any other target computes is measured against this.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "target/reference/tensor.hpp"

namespace cosmic::target::reference {

using States = std::map<std::string, Tensor, std::less<>>;

/// The value of every node, in node order. `inputs` are in the order of the graph's. Values that
/// are marked as not stored are computed like any other; only what is stored is rounded to its
/// format. States hold numbers of their formats already.
std::vector<Tensor> evaluate(const graph::Graph& graph, std::span<const Tensor> inputs,
                             const States& states = {});

}  // namespace cosmic::target::reference
