// How large is a network? Answers from its program.
#pragma once

#include <cstdint>

#include "graph/graph.hpp"

namespace cosmic::model {

/// Numbers, not tensors, of all states of one kind.
std::int64_t state_elements(const graph::Graph& graph, graph::StateKind kind);

inline std::int64_t parameter_count(const graph::Graph& graph) {
  return state_elements(graph, graph::StateKind::parameter);
}

}  // namespace cosmic::model
