// Convolutions of interleaved images and the gradients of their kernels.
#pragma once

#include <memory>
#include <optional>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// Can the step that computes `conv` also compute `activation`, which comes right after it? Then
/// each row is activated while it is in the cache. Not if the activation was given the place of
/// something that the convolution reads.
bool takes_activation(const Memory& memory, graph::ValueId conv, graph::ValueId activation);

/// A Conv, or a ConvTranspose of stride 1, which is a Conv with a mirrored kernel.
std::unique_ptr<Step> make_interleaved_conv_step(const Memory& memory, graph::ValueId id,
                                                 const Team& team,
                                                 std::optional<graph::ValueId> activation);
std::unique_ptr<Step> make_interleaved_kernel_gradient_step(const Memory& memory, graph::ValueId id,
                                                            const Team& team);

}  // namespace cosmic::target::cpu
