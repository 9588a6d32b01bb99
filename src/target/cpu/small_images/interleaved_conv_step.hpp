// Convolutions of interleaved images and the gradients of their kernels.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Can the step of a convolution also compute this map of its result? An activation can: each row
/// is activated while it is in the cache.
Support takes_activation(const graph::Graph& graph, graph::ValueId conv, graph::ValueId map);

/// A Conv, or a ConvTranspose of stride 1, which is a Conv with a mirrored kernel; an activation
/// may ride.
std::unique_ptr<PreparedStep> make_interleaved_conv_step(const Memory& memory,
                                                         const compile::Step& step,
                                                         const Team& team);
std::unique_ptr<PreparedStep> make_interleaved_kernel_gradient_step(const Memory& memory,
                                                                    const compile::Step& step,
                                                                    const Team& team);

}  // namespace cosmic::target::cpu
