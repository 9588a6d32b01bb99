// Which nodes of a program of interleaved images run side by side. As long as nothing mixes the
// images of different bundles, a thread can take its bundles through many nodes without waiting for
// the others: threads meet once per group, not once per node, and images stay with the core that
// made them.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/target_info.hpp"
#include "graph/graph.hpp"

namespace cosmic::target::cpu {

struct BundleGroup {
  compile::NodeGroup nodes;
  std::int64_t bundles = 0;
};

/// In program order. Nodes inside a group that compute nothing (inputs, states) do not matter.
std::vector<BundleGroup> bundle_groups(const graph::Graph& graph);

/// Equal for values whose bundles lie in the same bytes wherever both have the same place, so that
/// a thread finds there what it wrote itself: images of the same size. 0 for all that is no image.
std::int64_t memory_kind(const graph::Graph& graph, graph::ValueId id);

}  // namespace cosmic::target::cpu
