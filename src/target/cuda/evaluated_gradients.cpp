#include "target/cuda/evaluated_gradients.hpp"

#include <algorithm>

#include "target/cuda/device_memory.hpp"
#include "target/cuda/lower_images.hpp"
#include "target/cuda/recipe_builder.hpp"

namespace cosmic::target::cuda {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

/// The gradient that a step reads pixel by pixel, if it is one to be shared.
std::optional<ValueId> gradient_of(const Graph& graph, const compile::Step& step) {
  const Node& node = graph.node(step.leader.value);
  const bool is_kernel_gradient = op_if<graph::ConvKernelGradient>(node) != nullptr;
  if (!is_kernel_gradient && !is_conv(node)) {
    return std::nullopt;
  }
  const ValueId gradient = node.operands[is_kernel_gradient ? 1 : 0];
  const Node& read = graph.node(gradient);
  return read.stored || read.layout != graph::Layout::blocked ? std::nullopt
                                                              : std::optional(gradient);
}

/// Does it read each pixel of dy once? Along the depth, a tap may reach beyond the image.
bool can_leave(const Graph& graph, ValueId leader) {
  const Node& node = graph.node(leader);
  const auto* const gradient = op_if<graph::ConvKernelGradient>(node);
  return gradient != nullptr &&
         (node.type.rank() == 4 ||
          (node.type.dim(2) == 1 && gradient->window.stride[0] == 1 &&
           gradient->window.pad[0] == 0));
}

/// As its readers multiply it.
Image evaluated_image(const Graph& graph, ValueId leader, std::byte* memory) {
  const Node& node = graph.node(leader);
  const bool is_kernel_gradient = op_if<graph::ConvKernelGradient>(node) != nullptr;
  Image image = image_of(graph.node(node.operands[is_kernel_gradient ? 1 : 0]), memory);
  image.format = format_of(products_of(graph, leader));
  image.lanes = kBlock;
  return image;
}

}  // namespace

EvaluatedGradients::EvaluatedGradients(const compile::Plan& plan) {
  const Graph& graph = plan.graph;
  std::optional<ValueId> there;   // in memory, if somebody else reads it
  std::optional<ValueId> writer;  // that would leave it there
  for (const compile::Step& step : plan.steps.steps) {
    const ValueId leader = step.leader.value;
    const std::optional<ValueId> gradient = gradient_of(graph, step);
    if (!gradient) {
      continue;
    }
    if (there == gradient && products_of(graph, *writer) == products_of(graph, leader)) {
      writers_.insert(*writer);
      readers_.insert(leader);
      const Image image = evaluated_image(graph, leader, nullptr);
      bytes_ = std::max(bytes_, round_up(image.vectors() * kBlock * size_of(image.format)));
    } else if (can_leave(graph, leader)) {
      there = gradient;
      writer = leader;
    }
  }
}

std::optional<Image> EvaluatedGradients::left_by(const Graph& graph, ValueId leader) const {
  return writers_.contains(leader) ? std::optional(evaluated_image(graph, leader, memory_))
                                   : std::nullopt;
}

std::optional<Image> EvaluatedGradients::found_by(const Graph& graph, ValueId leader) const {
  return readers_.contains(leader) ? std::optional(evaluated_image(graph, leader, memory_))
                                   : std::nullopt;
}

}  // namespace cosmic::target::cuda
