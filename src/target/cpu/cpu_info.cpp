#include "target/cpu/cpu_info.hpp"

#include "compile/expression.hpp"
#include "target/cpu/blocked_image.hpp"
#include "target/cpu/conv_step.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/cpu/machine.hpp"
#include "target/cpu/prepared_step.hpp"
#include "target/cpu/small_images/bundle_groups.hpp"
#include "target/cpu/small_images/gate_before_unpooling.hpp"
#include "target/cpu/small_images/gate_by_activation.hpp"
#include "target/cpu/small_images/image_layout.hpp"
#include "target/cpu/small_images/interleaved_conv_step.hpp"
#include "target/cpu/updating_product_step.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::reads;
using compile::reads_same_pixel;
using compile::Ride;
using graph::Graph;
using graph::Layout;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_conv(const Node& node) {
  return op_if<graph::Conv>(node) != nullptr || op_if<graph::ConvTranspose>(node) != nullptr;
}

bool is_kernel_gradient(const Node& node) {
  return op_if<graph::ConvKernelGradient>(node) != nullptr;
}

/// Steps on rows read their image operands through a RowSource, which evaluates.
bool evaluates_operand(const Node& reader, std::size_t i) {
  if (is_conv(reader)) {
    return i == 0 || i == 3;
  }
  if (op_if<graph::Upsample>(reader) != nullptr) {
    return false;  // reads whole rows of the small image again and again
  }
  return reader.layout == Layout::blocked || reduction_of(reader.op) != graph::Reduction::none ||
         op_if<graph::Reorder>(reader) != nullptr;
}

/// Only where a pixel of the result needs no other pixel of what it is written over.
bool can_write_over(const Graph& graph, ValueId id, ValueId leaf) {
  const Node& node = graph.node(id);
  if (node.layout != graph.node(leaf).layout || node.format != graph.node(leaf).format) {
    return false;
  }
  if (node.layout == Layout::plain) {
    // Then nothing has to be moved.
    const bool from_sum = op_if<graph::Slice>(node) != nullptr &&
                          op_if<graph::AllReduce>(graph.node(leaf)) != nullptr;
    return op_if<graph::Reshape>(node) != nullptr || op_if<graph::AllReduce>(node) != nullptr ||
           from_sum;
  }
  if (node.layout == Layout::interleaved) {
    // The gradient of a pool reads all pixels of a window before it writes them.
    const bool reads_windows = op_if<graph::MaxPoolGradient>(node) != nullptr &&
                               node.operands[0] == leaf && node.operands[1] != leaf;
    return reads_windows || locality_of(node.op) == graph::Locality::pixel;
  }
  if (is_conv(node)) {
    return node.operands.size() == 4 && reads_same_pixel(graph, node.operands[3], leaf) &&
           !reads(graph, node.operands[0], leaf);
  }
  if (locality_of(node.op) != graph::Locality::pixel) {
    return false;
  }
  for (const ValueId operand : node.operands) {
    if (reads(graph, operand, leaf) && !reads_same_pixel(graph, operand, leaf)) {
      return false;
    }
  }
  return true;
}

Support can_ride(const compile::RideQuestion& question) {
  const Graph& graph = question.graph;
  const ValueId leader = question.step.leader.value;
  const bool leads_rows = is_conv(graph.node(leader));
  const bool blocked = graph.node(leader).layout == Layout::blocked;
  switch (question.ride) {
    case Ride::updates_state:
      return can_update(graph, leader, question.riders);
    case Ride::maps_result:
      if (!leads_rows || blocked || !question.step.riders.empty()) {
        return Support::no("only a convolution of interleaved images takes a map along, and one");
      }
      return takes_activation(graph, leader, question.riders.front());
    case Ride::reduces_result:
      return leads_rows && blocked
                 ? Support::yes()
                 : Support::no("only convolutions of blocked images hand on the rows they write");
    case Ride::shares_operand:
      return leads_rows && blocked
                 ? takes_kernel_gradient(graph, leader, question.riders.front())
                 : Support::no("only convolutions of blocked images hand on the rows they read");
  }
  return Support::no("this way of riding is not known here");
}

}  // namespace

compile::TargetInfo cpu_info() {
  compile::TargetInfo info;
  info.name = kName;
  info.machine = machine();
  info.image_layout = image_layout;
  info.reads_plain_channel = [](const Node& node, std::size_t i, Layout images) {
    return images == Layout::blocked && i == 0 && (is_conv(node) || is_kernel_gradient(node));
  };
  info.can_recompute = [](const Graph& graph, ValueId id) {
    return graph.node(id).layout == Layout::blocked;
  };
  info.evaluates_operand = evaluates_operand;
  info.storage_bytes = storage_bytes;
  info.can_write_over = can_write_over;
  info.memory_kind = memory_kind;
  info.alignment = kAlignment;
  info.can_ride = can_ride;
  info.has_riders = true;
  info.prepares_operand = [](const Node& node, std::size_t i) {
    return is_conv(node) && (i == 1 || i == 2);  // kernel and bias
  };
  info.rounds_as_written = is_narrow;
  info.part_of_group = part_of_group;
  info.lowering = {gate_by_activation(), gate_before_unpooling()};
  return info;
}

}  // namespace cosmic::target::cpu
