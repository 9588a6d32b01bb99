#include "target/cpu/program_steps.hpp"

#include <algorithm>
#include <set>

#include "target/cpu/bundle_groups.hpp"
#include "target/cpu/conv_step.hpp"
#include "target/cpu/half_product_step.hpp"
#include "target/cpu/image_steps.hpp"
#include "target/cpu/interleaved_conv_step.hpp"
#include "target/cpu/interleaved_image.hpp"
#include "target/cpu/interleaved_steps.hpp"
#include "target/cpu/kernel_gradient_step.hpp"
#include "target/cpu/plain_steps.hpp"
#include "target/cpu/rounding_step.hpp"
#include "target/cpu/row_reduction.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/updating_product_step.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_conv(const Node& node) {
  return op_if<graph::Conv>(node) != nullptr || op_if<graph::ConvTranspose>(node) != nullptr;
}

/// Does operand `i` of this reader accept rows that are computed on the spot?
bool reads_rows(const Node& reader, std::size_t i) {
  if (is_conv(reader)) {
    return i == 0 || i == 3;
  }
  if (op_if<graph::Upsample>(reader) != nullptr) {
    return false;  // reads whole rows of the small image again and again
  }
  return reader.layout == graph::Layout::blocked || is_row_reduction(reader) ||
         op_if<graph::ConvKernelGradient>(reader) != nullptr ||
         op_if<graph::Reorder>(reader) != nullptr;
}

/// Is `leaf` the value or one of the stored values it is recomputed from?
bool reads(const Graph& graph, ValueId id, ValueId leaf) {
  const Node& node = graph.node(id);
  if (id == leaf || node.stored) {
    return id == leaf;
  }
  return std::any_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return reads(graph, operand, leaf); });
}

/// Does a pixel of the value depend on no other pixel of `leaf` than the same one?
bool reads_same_pixel(const Graph& graph, ValueId id, ValueId leaf) {
  const Node& node = graph.node(id);
  if (id == leaf || node.stored) {
    return true;
  }
  if (locality_of(node.op) != graph::Locality::pixel) {
    return !reads(graph, id, leaf);
  }
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return reads_same_pixel(graph, operand, leaf); });
}

bool computes_nothing(const Node& node) {
  return !node.stored || op_if<graph::State>(node) != nullptr ||
         op_if<graph::Input>(node) != nullptr;
}

/// The nodes that can take the rows of each convolution's or product's result as they are written.
/// They must come next in the program, because their results are written when its step ends.
std::vector<std::vector<ValueId>> find_riders(const Memory& memory) {
  const Graph& graph = memory.graph();
  std::vector<std::vector<ValueId>> riders(graph.size());
  std::optional<ValueId> conv;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (computes_nothing(node)) {
      return;
    }
    riders[id.index()] = updates_by(memory, id);
    if (conv && graph.node(*conv).layout == graph::Layout::interleaved) {
      if (takes_activation(memory, *conv, id)) {
        riders[conv->index()].push_back(id);
      }
      conv = is_conv(node) ? std::optional(id) : std::nullopt;
      return;
    }
    if (conv && takes_kernel_gradient(graph, *conv, id)) {
      riders[conv->index()].push_back(id);
      return;
    }
    const auto rides = [&](ValueId operand) {
      return graph.node(operand).layout != graph::Layout::blocked ||
             reads_same_pixel(graph, operand, *conv);
    };
    const bool reads_conv = conv && std::any_of(node.operands.begin(), node.operands.end(),
                                                [&](ValueId o) { return reads(graph, o, *conv); });
    if (is_row_reduction(node) && reads_conv &&
        std::all_of(node.operands.begin(), node.operands.end(), rides)) {
      riders[conv->index()].push_back(id);
      return;
    }
    conv = is_conv(node) ? std::optional(id) : std::nullopt;
  });
  return riders;
}

/// Values that depend on nothing but state this program does not change.
std::vector<bool> constant_values(const Graph& graph) {
  std::set<ValueId> changed;
  for (const graph::StateUpdate& update : graph.updates) {
    changed.insert(update.state);
  }
  std::vector<bool> constant(graph.size(), false);
  for_each_node(graph, [&](ValueId id, const Node& node) {
    bool all = op_if<graph::Input>(node) == nullptr && !changed.contains(id);
    for (const ValueId operand : node.operands) {
      all = all && constant[operand.index()];
    }
    constant[id.index()] = all;
  });
  return constant;
}

bool is_weight_operand(const Node& node, std::size_t i) {
  return is_conv(node) && (i == 1 || i == 2);
}

/// Constant values whose every reader takes them in before the first run: other such values, and
/// convolutions, which pack them. Their place in the arena is free for others afterwards; a
/// constant that a kernel reads while running is simply computed each time, it is small.
std::vector<bool> values_needed_once(const Graph& graph) {
  std::vector<bool> once = constant_values(graph);
  for (const graph::NamedValue& output : graph.outputs) {
    once[output.value.index()] = false;
  }
  for (bool settled = false; !settled;) {
    settled = true;
    for_each_node(graph, [&](ValueId id, const Node& node) {
      bool packs = is_conv(node);
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        packs = packs && (!is_weight_operand(node, i) || once[node.operands[i].index()]);
      }
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const std::size_t operand = node.operands[i].index();
        const bool taken_in = once[id.index()] || (packs && is_weight_operand(node, i));
        // State has memory of its own and is always there.
        if (once[operand] && !taken_in && op_if<graph::State>(graph.nodes()[operand]) == nullptr) {
          once[operand] = false;
          settled = false;
        }
      }
    });
  }
  return once;
}

/// Of a reduction: matrices are summed up as they are.
bool reads_image(const Graph& graph, const Node& node) {
  return graph.node(node.operands[0]).layout != graph::Layout::plain;
}

std::unique_ptr<Step> make_interleaved(const Memory& memory, ValueId id, const Team& team,
                                       const std::vector<ValueId>& riders) {
  const Node& node = memory.graph().node(id);
  if (is_conv(node)) {
    return make_interleaved_conv_step(
        memory, id, team, riders.empty() ? std::nullopt : std::optional(riders.front()));
  }
  if (op_if<graph::ConvKernelGradient>(node) != nullptr) {
    return make_interleaved_kernel_gradient_step(memory, id, team);
  }
  return make_interleaved_step(memory, id);
}

std::unique_ptr<Step> make_step(const Memory& memory, ValueId id, const Team& team,
                                const std::vector<ValueId>& riders) {
  const Node& node = memory.graph().node(id);
  if (is_interleaved(memory.graph(), id)) {
    return make_interleaved(memory, id, team, riders);
  }
  if (is_conv(node)) {
    return make_conv_step(memory, id, team, riders);
  }
  if (op_if<graph::ConvKernelGradient>(node) != nullptr) {
    return make_kernel_gradient_step(memory, id, team);
  }
  if (is_row_reduction(node) && reads_image(memory.graph(), node)) {
    return make_reduction_step(memory, id, team);
  }
  if (op_if<graph::Reorder>(node) != nullptr) {
    return make_reorder_step(memory, id);
  }
  if (op_if<graph::MatMul>(node) != nullptr &&
      graph::partials_of(memory.graph(), id) != NumberFormat::f32) {
    return make_half_product_step(memory, id);
  }
  if (op_if<graph::MatMul>(node) != nullptr && !riders.empty()) {
    return make_updating_product_step(memory, id, riders);
  }
  if (node.layout == graph::Layout::plain) {
    return make_plain_step(memory, id);
  }
  if (op_if<graph::MaxPoolGradient>(node) != nullptr) {
    return make_max_pool_gradient_step(memory, id);
  }
  if (op_if<graph::UpsampleGradient>(node) != nullptr) {
    return make_upsample_gradient_step(memory, id);
  }
  if (locality_of(node.op) != graph::Locality::whole) {
    return make_map_step(memory, id);
  }
  return make_gather_step(memory, id);
}

/// Inputs that come into the group as images, and that nothing else has read by its end: steps that
/// take in images read their own bundles only, anything else may read all of an input.
std::vector<std::size_t> inputs_of(const Graph& graph, const BundleGroup& group) {
  const auto takes_in = [&](ValueId reader) {
    return reader.index() >= group.nodes.first && reader.index() <= group.nodes.last &&
           op_if<graph::Reorder>(graph.node(reader)) != nullptr;
  };
  const auto comes_later = [&](ValueId reader) { return reader.index() > group.nodes.last; };
  const auto readers = readers_of(graph);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId input = graph.inputs[i].value;
    const auto& all = readers[input.index()];
    const bool comes_in = std::any_of(all.begin(), all.end(), takes_in) &&
                          std::all_of(all.begin(), all.end(), [&](ValueId reader) {
                            return takes_in(reader) || comes_later(reader);
                          });
    if (comes_in && graph.type(input).dim(0) == group.bundles * kBundle &&
        graph.node(input).format == NumberFormat::f32) {
      inputs.push_back(i);
    }
  }
  return inputs;
}

/// Marks the steps of each group that is worth sharing and that splits evenly among the threads.
/// Otherwise its steps run one after the other, all threads on each.
void mark_groups(const Graph& graph, const Team& team, std::vector<PlacedStep>& steps) {
  for (const BundleGroup& group : bundle_groups(graph)) {
    std::vector<PlacedStep*> members;
    double work = 0;
    for (PlacedStep& placed : steps) {
      const std::size_t i = placed.value.index();
      if (i >= group.nodes.first && i <= group.nodes.last && !placed.fixed) {
        members.push_back(&placed);
        const graph::Cost cost = graph::cost_of(graph, placed.value);
        work += cost.flops + cost.bytes;
      }
    }
    if (members.size() < 2 || group.bundles % team.size() != 0 || team.for_work(work).size() == 1) {
      continue;
    }
    for (PlacedStep* member : members) {
      member->bundles = group.bundles;
    }
    members.front()->begins_group = true;
    members.front()->inputs = inputs_of(graph, group);
  }
}

}  // namespace

Support supports_node(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  const auto kernel_depth = [&](std::size_t operand) {
    return graph::feature_map(graph.type(node.operands[operand]), "a kernel").depth;
  };
  if (is_conv(node) && kernel_depth(1) > kMostKernelDepth) {
    return Support::no("the kernel is " + std::to_string(kernel_depth(1)) + " deep; at most " +
                       std::to_string(kMostKernelDepth) + " slices are kept in the cache");
  }
  if (op_if<graph::ConvKernelGradient>(node) != nullptr &&
      graph::feature_map(node.type, "a kernel").depth > kMostKernelDepth) {
    return Support::no("the kernel is deeper than " + std::to_string(kMostKernelDepth));
  }
  const auto pooled_rows = [](const graph::Factors& window) { return window[0] * window[1]; };
  const auto* pool = op_if<graph::MaxPool>(node);
  const auto* pool_gradient = op_if<graph::MaxPoolGradient>(node);
  if ((pool != nullptr && pooled_rows(pool->window) > kMostPooledRows) ||
      (pool_gradient != nullptr && pooled_rows(pool_gradient->window) > kMostPooledRows)) {
    return Support::no("the pooling window covers more than " + std::to_string(kMostPooledRows) +
                       " rows");
  }
  const bool classifies = op_if<graph::SegmentationSums>(node) != nullptr ||
                          op_if<graph::SegmentationSumsGradient>(node) != nullptr;
  if (classifies && graph.type(node.operands[0]).dim(1) > kBlock) {
    return Support::no("there are " + std::to_string(graph.type(node.operands[0]).dim(1)) +
                       " classes; the loss kernels hold at most " + std::to_string(kBlock));
  }
  if (classifies && graph.type(node.operands[0]).rank() == 5) {
    return Support::no("the logits have a depth axis; hand the planes over with depth_to_planes");
  }
  return Support::yes();
}

bool can_recompute(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  if (node.layout != graph::Layout::blocked) {
    return false;
  }
  for (std::size_t i = id.index() + 1; i < graph.size(); ++i) {
    const Node& reader = graph.nodes()[i];
    for (std::size_t k = 0; k < reader.operands.size(); ++k) {
      if (reader.operands[k] == id && !reads_rows(reader, k)) {
        return false;
      }
    }
  }
  return true;
}

bool can_write_over(const Graph& graph, ValueId id, ValueId leaf) {
  const Node& node = graph.node(id);
  if (node.layout != graph.node(leaf).layout) {
    return false;
  }
  if (node.format != graph.node(leaf).format) {
    return false;
  }
  if (node.layout == graph::Layout::plain) {
    return op_if<graph::Reshape>(node) != nullptr;  // then nothing has to be moved
  }
  if (node.layout == graph::Layout::interleaved) {
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

std::vector<PlacedStep> make_steps(const Memory& memory, const Team& team,
                                   const std::function<void(double)>& progress) {
  const Graph& graph = memory.graph();
  const std::vector<bool> once = values_needed_once(graph);
  const auto riders = find_riders(memory);
  std::set<ValueId> riding;
  std::vector<PlacedStep> steps;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (computes_nothing(node) || riding.contains(id)) {
      return;
    }
    riding.insert(riders[id.index()].begin(), riders[id.index()].end());
    bool fixed_weights = is_conv(node);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      fixed_weights =
          fixed_weights && (!is_weight_operand(node, i) || once[node.operands[i].index()]);
    }
    std::vector<ValueId> computed = riders[id.index()];
    computed.push_back(id);
    steps.push_back(
        {with_rounding(make_step(memory, id, team, riders[id.index()]), memory, computed), id,
         riders[id.index()], once[id.index()], fixed_weights});
    if (progress) {
      progress(static_cast<double>(id.index()) / static_cast<double>(graph.size()));
    }
  });
  mark_groups(graph, team, steps);
  return steps;
}

}  // namespace cosmic::target::cpu
