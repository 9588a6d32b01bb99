// Convolutions and transposed convolutions on blocked images.
//
// Both are the same loop: an output pixel is a sum over kernel positions ("taps") of an input pixel
// times a small matrix. They differ in which input pixel a tap reads. With stride s and padding p,
// output i reads input i * s + k - p through tap k in a convolution, and (i + p - k) / s, where
// that is whole, in a transposed one; there the columns of a row fall into s classes that use
// different taps.
#pragma once

#include <memory>
#include <vector>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

/// Can the kernel gradient `kernel_gradient` ride on the transposed convolution `conv`?
bool takes_kernel_gradient(const graph::Graph& graph, graph::ValueId conv,
                           graph::ValueId kernel_gradient);

/// `riders` are the reductions that take the rows of the result as they are written, and the kernel
/// gradient that takes the rows of the operand.
std::unique_ptr<Step> make_conv_step(const Memory& memory, graph::ValueId id, const Team& team,
                                     const std::vector<graph::ValueId>& riders);

}  // namespace cosmic::target::cpu
