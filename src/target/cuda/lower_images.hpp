// From steps on blocked images to work.
#pragma once

#include "compile/step.hpp"
#include "compile/target_info.hpp"
#include "target/cuda/lower.hpp"
#include "target/cuda/rooms.hpp"

namespace cosmic::target::cuda {

/// Straight or transposed.
bool is_conv(const graph::Node& node);

/// What the factors of a convolution or of a kernel gradient are on the chip.
Products products_of(const graph::Graph& graph, graph::ValueId node);

/// Does the step read or write an image in blocks of channels?
bool is_on_images(const graph::Graph& graph, const compile::Step& step);

/// Its work; what has to be done once per change of the state goes to `before`.
std::vector<Work> lower_images(const Addresses& addresses, const compile::Step& step, Rooms& rooms,
                               std::vector<Work>& before);

/// What the kernel of such a step is called where people read it.
std::string image_kernel_name(const graph::Graph& graph, const compile::Step& step);

/// May it ride?
Support can_ride(const compile::RideQuestion& question);

}  // namespace cosmic::target::cuda
