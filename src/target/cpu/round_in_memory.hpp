// Plain tensors (weights, matrices, numbers per channel) stay floats in memory; those with a
// narrow format are rounded to its numbers when the step that computes them is done. They are few
// and small: the memory is in the images.
#pragma once

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Rounds what is in memory for `id`, which is not a blocked image.
void round_in_memory(const Memory& memory, graph::ValueId id, const Team& team);

}  // namespace cosmic::target::cpu
