// Steps on interleaved images other than convolutions.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Does the node read or make interleaved images?
bool is_interleaved(const graph::Graph& graph, graph::ValueId id);

/// Is there a step for interleaved images? Convolutions and the gradients of their kernels have
/// files of their own.
bool has_interleaved_step(const graph::AnyOp& op);

std::unique_ptr<PreparedStep> make_interleaved_step(const Memory& memory, const compile::Step& step,
                                                    const Team& team);

}  // namespace cosmic::target::cpu
