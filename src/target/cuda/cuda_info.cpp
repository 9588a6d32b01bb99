#include "target/cuda/cuda_info.hpp"

#include <algorithm>
#include <optional>

#include "compile/expression.hpp"
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"
#include "target/cuda/cuda_executable.hpp"
#include "target/cuda/device_memory.hpp"
#include "target/cuda/lower_images.hpp"
#include "target/cuda/recipe_builder.hpp"

namespace cosmic::target::cuda {
namespace {

using compile::reads;
using compile::reads_same_pixel;
using graph::Graph;
using graph::Layout;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_kernel_gradient(const Node& node) {
  return op_if<graph::ConvKernelGradient>(node) != nullptr;
}

bool evaluates_operand(const Node& reader, std::size_t i) {
  if (is_conv(reader)) {
    return i == 0 || i == 3;
  }
  if (op_if<graph::MaxPoolGradient>(reader) != nullptr) {
    return i == 0;
  }
  if (op_if<graph::Upsample>(reader) != nullptr) {
    return false;  // reads pixels again and again
  }
  return is_kernel_gradient(reader) || op_if<graph::UpsampleGradient>(reader) != nullptr ||
         op_if<graph::Statistics>(reader) != nullptr ||
         op_if<graph::ChannelProducts>(reader) != nullptr ||
         op_if<graph::ChannelSum>(reader) != nullptr ||
         (reader.layout == Layout::blocked && locality_of(reader.op) != graph::Locality::whole);
}

/// A pooling is only ever evaluated on top of everything else.
bool is_only_multiplied(const Graph& graph, ValueId id) {
  bool only = true;
  for_each_node(graph, [&](ValueId, const Node& node) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      only =
          only && (node.operands[i] != id || (is_conv(node) && i == 0) || is_kernel_gradient(node));
    }
  });
  return only;
}

bool can_recompute(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  // The gradient of the loss takes exponentials, and three kernels read it.
  if (node.layout != Layout::blocked || !has_recipe(graph, id) ||
      op_if<graph::SegmentationSumsGradient>(node) != nullptr) {
    return false;
  }
  return op_if<graph::MaxPool>(node) == nullptr || is_only_multiplied(graph, id);
}

/// Only where a pixel of the result needs no other pixel of what it is written over.
bool can_write_over(const Graph& graph, ValueId id, ValueId leaf) {
  const Node& node = graph.node(id);
  const Node& under = graph.node(leaf);
  // What processes add up, and what is taken from the sum: then nothing has to be moved.
  const bool reshapes = op_if<graph::Reshape>(node) != nullptr;
  const bool from_sum = op_if<graph::AllReduce>(under) != nullptr
                            ? reshapes || op_if<graph::Slice>(node) != nullptr
                            : reshapes && op_if<graph::Slice>(under) != nullptr;
  if (op_if<graph::AllReduce>(node) != nullptr || from_sum) {
    return node.layout == Layout::plain && under.layout == Layout::plain;
  }
  if (node.layout != Layout::blocked || under.layout != Layout::blocked ||
      node.format != under.format || storage_bytes(node) != storage_bytes(under)) {
    return false;
  }
  if (is_conv(node)) {
    return node.operands.size() == 4 && reads_same_pixel(graph, node.operands[3], leaf) &&
           !reads(graph, node.operands[0], leaf);
  }
  if (locality_of(node.op) != graph::Locality::pixel) {
    return false;
  }
  return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) {
    return !reads(graph, operand, leaf) || reads_same_pixel(graph, operand, leaf);
  });
}

/// A program in another order: `order` has every node once, operands before their readers.
Graph in_order(const Graph& graph, const std::vector<ValueId>& order) {
  Graph result;
  std::vector<ValueId> map(graph.size());
  for (const ValueId id : order) {
    Node copy = graph.node(id);
    for (ValueId& operand : copy.operands) {
      operand = map[operand.index()];
    }
    map[id.index()] = result.append(std::move(copy));
  }
  compile::copy_boundary(graph, map, result);
  return result;
}

/// Whatever yields the next value of a state, and what only such nodes read.
std::vector<bool> updates_of(const Graph& graph) {
  std::vector<bool> last(graph.size(), false);
  for (const graph::StateUpdate& update : graph.updates) {
    last[update.value.index()] = op_if<graph::State>(graph.node(update.value)) == nullptr &&
                                 op_if<graph::Input>(graph.node(update.value)) == nullptr;
  }
  for (const graph::NamedValue& output : graph.outputs) {
    last[output.value.index()] = false;
  }
  const auto readers = readers_of(graph);
  // An update that something else still reads stays where it is.
  for (std::size_t i = graph.size(); i-- > 0;) {
    last[i] = last[i] && std::all_of(readers[i].begin(), readers[i].end(),
                                     [&](ValueId reader) { return last[reader.index()]; });
  }
  return last;
}

Graph update_last(const Graph& graph) {
  const std::vector<bool> last = updates_of(graph);
  std::vector<ValueId> order;
  for (const bool wanted : {false, true}) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (last[i] == wanted) {
        order.emplace_back(i);
      }
    }
  }
  return in_order(graph, order);
}

compile::Pass update_states_last() {
  return {"update-states-last",
          "before steps are made: updates that are neighbours run as one kernel, and nobody reads "
          "weights after they have changed",
          [](const Graph& graph) { return update_last(graph); }, compile::Required::yes};
}

/// A convolution whose result only an activation reads takes its place.
Graph activate_in_conv(Graph graph) {
  const auto readers = readers_of(graph);
  const auto is_output = [&](ValueId id) {
    return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                       [&](const graph::NamedValue& output) { return output.value == id; });
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    Node& node = graph.node(ValueId(i));
    const auto* const activation = op_if<graph::LeakyRelu>(node);
    // Kernels take the larger of two numbers.
    if (activation == nullptr || activation->slope < 0 || activation->slope > 1) {
      continue;
    }
    const ValueId read = node.operands[0];
    const Node& conv = graph.node(read);
    const auto* const op = op_if<graph::Conv>(conv);
    if (op != nullptr && op->slope == 1 && readers[read.index()].size() == 1 && !is_output(read)) {
      node.op = graph::Conv{op->window, activation->slope};
      node.operands = conv.operands;
    }
  }
  return graph;
}

compile::Pass activate_what_is_written() {
  return {"activate-what-is-written",
          "before sums are moved behind convolutions: what is activated when it is written need "
          "not be when it is read, by each reader and at the edges of tiles more than once",
          activate_in_conv};
}

compile::Pass round_factors() {
  return {"round-factors",
          "anywhere: it says what tensor cores do, for whoever checks their results",
          [](Graph graph) {
            graph.numerics.narrow_factors = true;
            return graph;
          },
          compile::Required::yes};
}

/// Sums over what a convolution or the gradient of a pooling writes, right behind it, with the
/// local ops in between.
class SumsFirst {
 public:
  explicit SumsFirst(const Graph& graph)
      : graph_(graph), readers_(readers_of(graph)), placed_(graph.size(), false) {}

  Graph run() {
    for_each_node(graph_, [&](ValueId id, const Node& node) {
      if (!placed_[id.index()]) {
        place(id);
      }
      if (is_conv(node) || op_if<graph::MaxPoolGradient>(node) != nullptr) {
        if (const std::optional<ValueId> sum = sum_over(id)) {
          place_with_operands(*sum);
        }
      }
    });
    return in_order(graph_, order_);
  }

 private:
  void place(ValueId id) {
    placed_[id.index()] = true;
    order_.push_back(id);
  }

  void place_with_operands(ValueId id) {
    for (const ValueId operand : graph_.node(id).operands) {
      if (!placed_[operand.index()]) {
        place_with_operands(operand);
      }
    }
    if (!placed_[id.index()]) {
      place(id);
    }
  }

  /// A sum that needs nothing that is yet to come but local ops.
  std::optional<ValueId> sum_over(ValueId written) const {
    std::vector<ValueId> reached{written};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const ValueId reader : readers_[reached[i].index()]) {
        const Node& node = graph_.node(reader);
        if (reduction_of(node.op) == graph::Reduction::pixels && is_ready(reader)) {
          return reader;
        }
        if (locality_of(node.op) == graph::Locality::pixel && reached.size() < kMostReached) {
          reached.push_back(reader);
        }
      }
    }
    return std::nullopt;
  }

  bool is_ready(ValueId id) const {
    const auto& operands = graph_.node(id).operands;
    return std::all_of(operands.begin(), operands.end(), [&](ValueId operand) {
      return placed_[operand.index()] ||
             (locality_of(graph_.node(operand).op) == graph::Locality::pixel && is_ready(operand));
    });
  }

  static constexpr std::size_t kMostReached = 16;

  const Graph& graph_;
  std::vector<std::vector<ValueId>> readers_;
  std::vector<bool> placed_;
  std::vector<ValueId> order_;
};

compile::Pass sum_what_was_written() {
  return {"sum-what-was-written",
          "before steps are made: only what comes next can ride on what was written",
          [](const Graph& graph) { return SumsFirst(graph).run(); }};
}

}  // namespace

compile::TargetInfo cuda_info(std::string machine) {
  compile::TargetInfo info;
  info.name = kName;
  info.machine = std::move(machine);
  info.image_layout = [](const Graph&) { return Layout::blocked; };
  info.reads_plain_channel = [](const Node& node, std::size_t i, Layout images) {
    return images == Layout::blocked && i == 0 &&
           (op_if<graph::Conv>(node) != nullptr || is_kernel_gradient(node));
  };
  info.can_recompute = can_recompute;
  info.evaluates_operand = evaluates_operand;
  info.storage_bytes = storage_bytes;
  info.can_write_over = can_write_over;
  info.alignment = kAlignment;
  // Reading is what takes time; memory is plenty.
  info.worth_of_memory = 1.25;
  info.can_ride = can_ride;
  info.prepares_operand = [](const Node& node, std::size_t i) {
    return is_conv(node) && node.layout == Layout::blocked && (i == 1 || i == 2);
  };
  info.rounds_as_written = [](const Node& node) { return node.layout == Layout::blocked; };
  info.lowering = {activate_what_is_written(), compile::drop_dead_nodes(), update_states_last(),
                   sum_what_was_written(), round_factors()};
  return info;
}

}  // namespace cosmic::target::cuda
