#include "machine/workload.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "compile/passes/passes.hpp"
#include "machine/forward_pass.hpp"

namespace cosmic::machine {
namespace {

using graph::Graph;
using graph::Node;
using graph::Shape;
using graph::TensorType;
using graph::ValueId;

template <class... Ops>
bool is_one_of(const Node& node) {
  return (std::holds_alternative<Ops>(node.op) || ...);
}

/// Rows and columns of a kernel [a, b, (depth,) rows, columns], depth counted with the rows.
struct KernelExtent {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

KernelExtent extent_of(const Shape& spatial) {
  KernelExtent extent;
  extent.columns = spatial.back();
  for (std::size_t axis = 0; axis + 1 < spatial.size(); ++axis) {
    extent.rows *= spatial[axis];
  }
  return extent;
}

KernelExtent extent_of_kernel(const TensorType& kernel) {
  return extent_of(Shape(kernel.shape.begin() + 2, kernel.shape.end()));
}

double pixels_of_batch(const TensorType& image) {
  const graph::FeatureMap map = graph::feature_map(image, "the image of a convolution");
  return static_cast<double>(map.batch * map.pixels());
}

bool is_strided(const graph::Window& window) {
  return std::any_of(window.stride.begin(), window.stride.end(),
                     [](std::int64_t stride) { return stride != 1; });
}

std::optional<Contraction> contraction_of(const Graph& graph, const Node& node) {
  const std::vector<TensorType> in = graph::operand_types(graph, node);
  if (const auto* conv = std::get_if<graph::Conv>(&node.op)) {
    const KernelExtent kernel = extent_of_kernel(in[1]);
    return Contraction{.rows = pixels_of_batch(node.type),
                       .common = in[1].dim(1),
                       .columns = in[1].dim(0),
                       .kernel_rows = kernel.rows,
                       .kernel_columns = kernel.columns,
                       .strided = is_strided(conv->window)};
  }
  if (const auto* conv = std::get_if<graph::ConvTranspose>(&node.op)) {
    // Seen from y: with a stride, the taps that meet no element are not worked on.
    const KernelExtent kernel = extent_of_kernel(in[1]);
    return Contraction{.rows = pixels_of_batch(in[0]),
                       .common = in[1].dim(0),
                       .columns = in[1].dim(1),
                       .kernel_rows = kernel.rows,
                       .kernel_columns = kernel.columns,
                       .strided = is_strided(conv->window)};
  }
  if (const auto* gradient = std::get_if<graph::ConvKernelGradient>(&node.op)) {
    // The sum runs over the pixels; channels and kernel positions are results.
    const KernelExtent kernel = extent_of(gradient->kernel);
    const auto positions = static_cast<double>(kernel.rows * kernel.columns);
    return Contraction{.rows = static_cast<double>(in[0].dim(1)) * positions,
                       .common = static_cast<std::int64_t>(pixels_of_batch(in[1])),
                       .columns = in[1].dim(1),
                       .rows_per_element = positions,
                       .strided = is_strided(gradient->window)};
  }
  if (const auto* product = std::get_if<graph::MatMul>(&node.op)) {
    const std::size_t common = product->a == graph::Transposed::yes ? 0 : 1;
    return Contraction{static_cast<double>(node.type.dim(0)), in[0].dim(common), node.type.dim(1),
                       1, 1};
  }
  return std::nullopt;
}

Work::Kind kind_of(const Node& node) {
  using Kind = Work::Kind;
  if (is_one_of<graph::Input, graph::State, graph::Reshape>(node)) {
    return Kind::nothing;
  }
  if (is_one_of<graph::Conv, graph::ConvTranspose, graph::ConvKernelGradient, graph::MatMul>(
          node)) {
    return Kind::contraction;
  }
  if (is_one_of<graph::Statistics, graph::ChannelProducts, graph::ChannelSum,
                graph::EvenClassWeights, graph::SegmentationSums, graph::NegativeLogLikelihood>(
          node)) {
    return Kind::reduction;
  }
  if (is_one_of<graph::Concat, graph::Slice, graph::Embed, graph::PlanesToChannels,
                graph::ChannelsToPlanes, graph::DepthToPlanes, graph::PlanesToDepth,
                graph::Reorder>(node)) {
    return Kind::rearrangement;
  }
  if (is_one_of<graph::Moment, graph::AdamStep, graph::RmspropStep, graph::SgdStep,
                graph::AllFinite, graph::Unscale, graph::NextLossScale, graph::GoodSteps,
                graph::AllReduce>(node)) {
    return Kind::update;
  }
  return Kind::elementwise;
}

/// What a library does in its kernels for normalization and biases.
bool is_per_channel(const Node& node) {
  return is_one_of<graph::Statistics, graph::StatisticsGradient, graph::ChannelAffine,
                   graph::ChannelScale, graph::ChannelProducts, graph::ChannelSum>(node);
}

/// Of the largest image among its result and its operands.
std::int64_t channels_of(const Graph& graph, const Node& node) {
  std::int64_t most = 0;
  std::int64_t channels = 0;
  const auto look = [&](const TensorType& type) {
    if (type.rank() >= 4 && type.elements() > most) {
      most = type.elements();
      channels = type.dim(1);
    }
  };
  look(node.type);
  for (const ValueId operand : node.operands) {
    look(graph.type(operand));
  }
  return channels;
}

/// Adds the stored values that must be read to have `id`.
void add_stored_leaves(const Graph& graph, ValueId id, std::set<ValueId>& leaves) {
  if (graph.node(id).stored) {
    leaves.insert(id);
    return;
  }
  for (const ValueId operand : graph.node(id).operands) {
    add_stored_leaves(graph, operand, leaves);
  }
}

/// Bytes of an element of the largest value that must be read to have `id`. Coefficients and biases
/// on the way are few and stay wide.
std::int64_t element_bytes_of(const Graph& graph, ValueId id) {
  std::set<ValueId> leaves;
  add_stored_leaves(graph, id, leaves);
  std::int64_t most = -1;
  std::int64_t bytes = graph::size_of(graph.type(id).dtype);
  for (const ValueId leaf : leaves) {
    const Node& read = graph.node(leaf);
    if (read.type.elements() > most) {
      most = read.type.elements();
      bytes = read.type.dtype == graph::DType::f32 ? bytes_of(read.format)
                                                   : graph::size_of(read.type.dtype);
    }
  }
  return bytes;
}

/// The widest of what is computed with: both factors of a product, the largest operand of others.
std::int64_t element_bytes_of(const Graph& graph, const Node& node) {
  if (node.operands.empty()) {
    return graph::size_of(node.type.dtype);
  }
  if (kind_of(node) == Work::Kind::contraction) {
    return std::max(element_bytes_of(graph, node.operands[0]),
                    element_bytes_of(graph, node.operands[1]));
  }
  const auto largest = std::max_element(
      node.operands.begin(), node.operands.end(),
      [&](ValueId a, ValueId b) { return graph.type(a).elements() < graph.type(b).elements(); });
  return element_bytes_of(graph, *largest);
}

std::string signature_of(const Graph& graph, const Node& node) {
  std::ostringstream text;
  text << graph::name_of(node.op);
  for (const ValueId operand : node.operands) {
    text << ' ' << graph.type(operand);
  }
  return text.str();
}

Work work_of(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  Work work{.value = id,
            .layer = node.name,
            .op = std::string(graph::name_of(node.op)),
            .kind = kind_of(node)};
  work.stored = node.stored;
  work.stage = static_cast<std::size_t>(node.stage);
  if (work.kind == Work::Kind::nothing) {
    return work;
  }
  work.contraction = contraction_of(graph, node);
  work.flops = graph::cost_of(graph, id).flops;
  work.elements = static_cast<double>(node.type.elements());
  for (const ValueId operand : node.operands) {
    work.elements = std::max(work.elements, static_cast<double>(graph.type(operand).elements()));
  }
  std::set<ValueId> leaves;
  for (const ValueId operand : node.operands) {
    add_stored_leaves(graph, operand, leaves);
  }
  work.element_bytes = element_bytes_of(graph, node);
  if (node.stored) {
    work.bytes_written = static_cast<double>(graph::bytes_of(node));
    for (const ValueId leaf : leaves) {
      work.bytes_read += static_cast<double>(graph::bytes_of(graph.node(leaf)));
      work.reads.push_back(leaf.index());
    }
  }
  if (is_one_of<graph::Conv, graph::ConvTranspose>(node)) {
    work.weight_bytes = static_cast<double>(graph::bytes_of(graph.node(node.operands[1])));
  }
  work.signature = signature_of(graph, node);
  work.channels = channels_of(graph, node);
  work.per_channel = is_per_channel(node);
  work.tf32 = work.contraction.has_value() && graph::takes_tf32(graph, id);
  return work;
}

/// Is what an optimizer takes for the gradient the same number everywhere? Nobody exchanges that;
/// it is the gradient of a bias without effect.
bool has_constant_gradient(const Graph& graph, const Workload& workload,
                           const graph::StateVariable& parameter) {
  const auto& shape = graph.type(parameter.value).shape;
  std::vector<ValueId> open;
  for (const graph::StateUpdate& update : graph.updates) {
    if (update.state == parameter.value) {
      open.push_back(update.value);
    }
  }
  while (!open.empty()) {
    const Node& node = graph.node(open.back());
    open.pop_back();
    for (const ValueId operand : node.operands) {
      if (is_one_of<graph::Fill>(graph.node(operand)) && graph.type(operand).shape == shape) {
        return true;
      }
      if (workload.works[operand.index()].kind == Work::Kind::update) {
        open.push_back(operand);
      }
    }
  }
  return false;
}

/// An inference computes what depends on weights alone once, when they are loaded, and not in each
/// run: filters that a normalization is folded into, weights in another format. Our CUDA target
/// does, and so do inference libraries.
void leave_out_what_weights_decide(const Graph& graph, Workload& workload) {
  std::vector<bool> each_run(graph.size(), false);
  for (const graph::NamedValue& input : graph.inputs) {
    each_run[input.value.index()] = true;
  }
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    const bool reads = std::any_of(node.operands.begin(), node.operands.end(),
                                   [&](ValueId operand) { return each_run[operand.index()]; });
    each_run[id.index()] = each_run[id.index()] || reads;
    if (!each_run[id.index()]) {
      workload.works[id.index()].kind = Work::Kind::nothing;
    }
  });
}

}  // namespace

Workload workload_of(const Graph& graph) {
  Workload workload;
  bool trains = false;
  const std::vector<bool> forward = forward_pass(graph);
  graph::for_each_node(graph, [&](ValueId id, const Node&) {
    Work& work = workload.works.emplace_back(work_of(graph, id));
    const bool updates = work.kind == Work::Kind::update;
    work.phase = updates               ? Work::Phase::update
                 : forward[id.index()] ? Work::Phase::forward
                                       : Work::Phase::backward;
    workload.stages = std::max(workload.stages, work.stage + 1);
    trains = trains || updates;
    const Node& node = graph.node(id);
    workload.value_bytes.push_back(node.stored ? static_cast<double>(graph::bytes_of(node)) : 0);
  });
  if (graph.updates.empty()) {
    leave_out_what_weights_decide(graph, workload);
  }
  for (const Node& node : graph.nodes()) {
    const auto* const statistics = graph::op_if<graph::Statistics>(node);
    if (statistics != nullptr && statistics->over == graph::Over::all_processes) {
      workload.statistics_bytes.push_back(graph::AllReduce::exchanged_bytes(
          static_cast<double>(node.type.elements()), NumberFormat::f32));
    }
  }
  workload.leaves_program.resize(graph.size(), false);
  for (const graph::NamedValue& output : graph.outputs) {
    workload.leaves_program[output.value.index()] = true;
  }
  for (const graph::StateUpdate& update : graph.updates) {
    workload.leaves_program[update.value.index()] = true;
  }
  for (const graph::NamedValue& input : graph.inputs) {
    workload.input_bytes += static_cast<double>(graph.type(input.value).bytes());
  }
  std::vector<std::int64_t> gradients;
  for (const graph::StateVariable& state : graph.states) {
    if (trains && state.kind == graph::StateKind::parameter) {
      const std::int64_t bytes = graph::bytes_of(graph.node(state.value));
      workload.gradient_bytes += static_cast<double>(bytes);
      workload.gradient_elements += static_cast<double>(graph.type(state.value).elements());
      if (!has_constant_gradient(graph, workload, state)) {
        gradients.push_back(bytes);
      }
    }
  }
  std::reverse(gradients.begin(), gradients.end());  // about as the backward pass makes them
  const std::vector<std::int64_t> buckets = compile::bucket_bytes(gradients);
  workload.gradient_buckets.assign(buckets.begin(), buckets.end());
  workload.partials = graph.numerics.partials;
  return workload;
}

}  // namespace cosmic::machine
