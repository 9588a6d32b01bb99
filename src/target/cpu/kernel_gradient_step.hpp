// The gradient of a convolution's kernel: products of input pixels and output gradients, summed
// over all pixels of all images.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<PreparedStep> make_kernel_gradient_step(const Memory& memory,
                                                        const compile::Step& step,
                                                        const Team& team);

}  // namespace cosmic::target::cpu
