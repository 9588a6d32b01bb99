// Steps on plain tensors: weights, matrices, numbers per channel, labels, losses, updates.
#pragma once

#include <memory>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// The step of any op that works on plain tensors. Throws InternalError for one that does not.
std::unique_ptr<Step> make_plain_step(const Memory& memory, graph::ValueId id);

}  // namespace cosmic::target::cpu
