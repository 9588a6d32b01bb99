// Plain tensors (weights, matrices, numbers per channel) stay floats in memory; those with a
// narrow format are rounded to its numbers when the step that computes them is done. They are few
// and small: the memory is in the images.
#pragma once

#include <memory>
#include <vector>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// Rounds what is in memory for `id`, an image that is not blocked.
void round_in_memory(const Memory& memory, graph::ValueId id, const Team& team);

/// `step`, followed by rounding those of the values it computes that ask for it.
std::unique_ptr<Step> with_rounding(std::unique_ptr<Step> step, const Memory& memory,
                                    const std::vector<graph::ValueId>& computed);

}  // namespace cosmic::target::cpu
