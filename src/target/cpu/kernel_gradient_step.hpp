// The gradient of a convolution's kernel: products of input pixels and output gradients, summed
// over all pixels of all images.
#pragma once

#include <memory>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<Step> make_kernel_gradient_step(const Memory& memory, graph::ValueId id,
                                                const Team& team);

}  // namespace cosmic::target::cpu
