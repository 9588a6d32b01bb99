// Which steps of a program of interleaved images run side by side. As long as nothing mixes the
// images of different bundles, a thread can take its bundles through many steps without waiting for
// the others: threads meet once per group, not once per step, and images stay with the core that
// made them.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/target_info.hpp"
#include "graph/graph.hpp"

namespace cosmic::target::cpu {

/// Whether a step works on bundles, and on how many. One that rounds its result when all of it is
/// there does not.
compile::Part part_of_group(const graph::Graph& graph, const compile::Step& step);

/// Inputs of the program, by their index, that come into the group as images and that nothing else
/// has read by its end: steps that take in images read their own bundles only, anything else may
/// read all of an input. Each thread of the group copies its bundles of them.
std::vector<std::size_t> inputs_of(const graph::Graph& graph, const compile::StepList& steps,
                                   const compile::StepGroup& group);

/// Equal for values whose bundles lie in the same bytes wherever both have the same place, so that
/// a thread finds there what it wrote itself: images of the same size. 0 for all that is no image.
std::int64_t memory_kind(const graph::Graph& graph, graph::ValueId id);

}  // namespace cosmic::target::cpu
