// Convolutions and transposed convolutions on blocked images.
//
// Both are the same loop: an output pixel is a sum over kernel positions ("taps") of an input pixel
// times a small matrix. They differ in which input pixel a tap reads. With stride s and padding p,
// output i reads input i * s + k - p through tap k in a convolution, and (i + p - k) / s, where
// that is whole, in a transposed one; there the columns of a row fall into s classes that use
// different taps.
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// Can the kernel gradient `kernel_gradient` ride on the transposed convolution `conv`?
Support takes_kernel_gradient(const graph::Graph& graph, graph::ValueId conv,
                              graph::ValueId kernel_gradient);

/// Is Winograd's algorithm the better way for this convolution?
Support worth_winograd(const graph::Graph& graph, graph::ValueId conv);

// Riders are the reductions that take the rows of the result as they are written, and the kernel
// gradient that takes the rows of the operand.

/// By Winograd's algorithm, four rows at a time.
std::unique_ptr<PreparedStep> make_winograd_conv_step(const Memory& memory,
                                                      const compile::Step& step, const Team& team);
/// Row by row, whatever the window; sums are rounded where graph::partials_of says so.
std::unique_ptr<PreparedStep> make_direct_conv_step(const Memory& memory, const compile::Step& step,
                                                    const Team& team);

}  // namespace cosmic::target::cpu
