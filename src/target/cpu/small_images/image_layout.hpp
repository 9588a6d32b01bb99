// Which layout the images of a program take. One for all of them, so that none is ever converted on
// its way from one op to the next.
#pragma once

#include "graph/graph.hpp"

namespace cosmic::target::cpu {

/// Layout::interleaved where all images are small, in batches of whole bundles, every op on them
/// can work so, and sums are float32; Layout::blocked otherwise.
graph::Layout image_layout(const graph::Graph& graph);

}  // namespace cosmic::target::cpu
