// Steps on plain tensors: weights, matrices, numbers per channel, labels, losses, updates.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Is there a step for plain tensors?
bool has_plain_step(const graph::AnyOp& op);

std::unique_ptr<PreparedStep> make_plain_step(const Memory& memory, const compile::Step& step,
                                              const Team& team);

}  // namespace cosmic::target::cpu
