// Steps on interleaved images other than convolutions.
#pragma once

#include <memory>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// Does the node read or make interleaved images?
bool is_interleaved(const graph::Graph& graph, graph::ValueId id);

/// Throws InternalError for an op without such a step.
std::unique_ptr<Step> make_interleaved_step(const Memory& memory, graph::ValueId id);

}  // namespace cosmic::target::cpu
