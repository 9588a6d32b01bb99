#include "target/cpu/implementations.hpp"

#include <array>

#include "core/error.hpp"
#include "target/cpu/conv_step.hpp"
#include "target/cpu/half_product_step.hpp"
#include "target/cpu/image_steps.hpp"
#include "target/cpu/kernel_gradient_step.hpp"
#include "target/cpu/plain_steps.hpp"
#include "target/cpu/row_reduction.hpp"
#include "target/cpu/row_source.hpp"
#include "target/cpu/row_window.hpp"
#include "target/cpu/small_images/interleaved_conv_step.hpp"
#include "target/cpu/small_images/interleaved_steps.hpp"
#include "target/cpu/updating_product_step.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::Step;
using graph::Graph;
using graph::Layout;
using graph::Node;
using graph::op_if;

constexpr Arithmetic kFloat32{};
constexpr Arithmetic kRoundedSums{.sums = Arithmetic::Sums::rounded};

// Answers that several ways share.

Support for_interleaved(const Graph& graph, const Step& step) {
  return is_interleaved(graph, step.leader.value)
             ? Support::yes()
             : Support::no("the program's images are not small and many");
}

Support for_plain(const Graph& graph, const Step& step) {
  const Node& node = graph.node(step.leader.value);
  if (node.layout != Layout::plain) {
    return Support::no("its result is an image");
  }
  for (const graph::ValueId operand : node.operands) {
    if (graph.node(operand).layout != Layout::plain) {
      return Support::no("it reads an image");
    }
  }
  return has_plain_step(node.op) ? Support::yes()
                                 : Support::no("it works on images in blocks of channels only");
}

Support for_blocked(const Graph& graph, const Step& step) {
  return is_interleaved(graph, step.leader.value) ? Support::no("images are interleaved")
                                                  : Support::yes();
}

Support for_winograd(const Graph& graph, const Step& step) {
  const Support blocked = for_blocked(graph, step);
  return blocked.ok ? worth_winograd(graph, step.leader.value) : blocked;
}

Support for_image_operand(const Graph& graph, const Step& step) {
  const Node& node = graph.node(step.leader.value);
  return graph.node(node.operands[0]).layout == Layout::blocked
             ? Support::yes()
             : Support::no("its operand is no image in blocks of channels");
}

Support for_blocked_result(const Graph& graph, const Step& step) {
  return graph.node(step.leader.value).layout == Layout::blocked
             ? Support::yes()
             : Support::no("its result is no image in blocks of channels");
}

Support for_updates(const Graph&, const Step& step) {
  return step.riders.empty() ? Support::no("no update rides on it") : Support::yes();
}

Support for_any(const Graph&, const Step&) {
  return Support::yes();
}

// One list per kind of step.

constexpr std::array kConvolutions{
    Implementation{"rows of eight interleaved images", kFloat32, for_interleaved,
                   make_interleaved_conv_step},
    Implementation{"Winograd F(4x4, 3x3)", kFloat32, for_winograd, make_winograd_conv_step},
    Implementation{"rows, direct", kFloat32, for_blocked, make_direct_conv_step},
    Implementation{"rows, direct, rounded sums", kRoundedSums, for_blocked, make_direct_conv_step},
};

constexpr std::array kKernelGradients{
    Implementation{"eight interleaved images", kFloat32, for_interleaved,
                   make_interleaved_kernel_gradient_step},
    Implementation{"bands of rows", kFloat32, for_blocked, make_kernel_gradient_step},
    Implementation{"rows, rounded sums", kRoundedSums, for_blocked, make_kernel_gradient_step},
};

constexpr std::array kReductions{
    Implementation{"sheets of eight images", kFloat32, for_interleaved, make_interleaved_step},
    Implementation{"rows", kFloat32, for_image_operand, make_reduction_step},
    Implementation{"plain", kFloat32, for_plain, make_plain_step},
};

constexpr std::array kReorders{
    Implementation{"bundles of eight images", kFloat32, for_interleaved, make_interleaved_step},
    Implementation{"blocks of eight channels", kFloat32, for_any, make_reorder_step},
};

constexpr std::array kProducts{
    Implementation{"columns, rounded sums", kRoundedSums, for_any, make_half_product_step},
    Implementation{"rows, weights updated from registers", kFloat32, for_updates,
                   make_updating_product_step},
    Implementation{"plain", kFloat32, for_plain, make_plain_step},
};

constexpr std::array kMaxPoolGradients{
    Implementation{"sheets of eight images", kFloat32, for_interleaved, make_interleaved_step},
    Implementation{"rows of windows", kFloat32, for_blocked_result, make_max_pool_gradient_step},
};

constexpr std::array kUpsampleGradients{
    Implementation{"rows", kFloat32, for_blocked_result, make_upsample_gradient_step},
};

/// Local ops: a row of the result from rows of the operands.
constexpr std::array kMaps{
    Implementation{"sheets of eight images", kFloat32, for_interleaved, make_interleaved_step},
    Implementation{"row expression", kFloat32, for_blocked_result, make_map_step},
    Implementation{"plain", kFloat32, for_plain, make_plain_step},
};

constexpr std::array kGathers{
    Implementation{"channels picked row by row", kFloat32, for_blocked_result, make_gather_step},
    Implementation{"plain", kFloat32, for_plain, make_plain_step},
};

constexpr std::array kPlain{
    Implementation{"plain", kFloat32, for_plain, make_plain_step},
};

constexpr std::span<const Implementation> kNone;

/// Which list is for an op. There is no overload for all ops: one that is new does not compile
/// until someone has said how it is computed here.
struct ListOf {
  using List = std::span<const Implementation>;

  List operator()(const graph::Input&) const { return kNone; }
  List operator()(const graph::State&) const { return kNone; }
  List operator()(const graph::Fill&) const { return kPlain; }
  List operator()(const graph::Add&) const { return kMaps; }
  List operator()(const graph::Scale&) const { return kMaps; }
  List operator()(const graph::LeakyRelu&) const { return kMaps; }
  List operator()(const graph::LeakyReluGradient&) const { return kMaps; }
  List operator()(const graph::ChannelBias&) const { return kMaps; }
  List operator()(const graph::ChannelSum&) const { return kReductions; }
  List operator()(const graph::Conv&) const { return kConvolutions; }
  List operator()(const graph::ConvTranspose&) const { return kConvolutions; }
  List operator()(const graph::ConvKernelGradient&) const { return kKernelGradients; }
  List operator()(const graph::ScaleFilters&) const { return kPlain; }
  List operator()(const graph::Statistics&) const { return kReductions; }
  List operator()(const graph::StatisticsGradient&) const { return kMaps; }
  List operator()(const graph::RestateStatistics&) const { return kPlain; }
  List operator()(const graph::NormCoefficients&) const { return kPlain; }
  List operator()(const graph::NormCoefficientsGradient&) const { return kPlain; }
  List operator()(const graph::ChannelAffine&) const { return kMaps; }
  List operator()(const graph::ChannelScale&) const { return kMaps; }
  List operator()(const graph::ChannelProducts&) const { return kReductions; }
  List operator()(const graph::RunningUpdate&) const { return kPlain; }
  List operator()(const graph::Increment&) const { return kPlain; }
  List operator()(const graph::Concat&) const { return kGathers; }
  List operator()(const graph::Slice&) const { return kGathers; }
  List operator()(const graph::Embed&) const { return kGathers; }
  List operator()(const graph::Reshape&) const { return kPlain; }
  List operator()(const graph::PlanesToChannels&) const { return kGathers; }
  List operator()(const graph::ChannelsToPlanes&) const { return kGathers; }
  List operator()(const graph::DepthToPlanes&) const { return kMaps; }
  List operator()(const graph::PlanesToDepth&) const { return kMaps; }
  List operator()(const graph::Copy&) const { return kPlain; }
  List operator()(const graph::Reorder&) const { return kReorders; }
  List operator()(const graph::MaxPool&) const { return kMaps; }
  List operator()(const graph::MaxPoolGradient&) const { return kMaxPoolGradients; }
  List operator()(const graph::Upsample&) const { return kMaps; }
  List operator()(const graph::UpsampleGradient&) const { return kUpsampleGradients; }
  List operator()(const graph::MatMul&) const { return kProducts; }
  List operator()(const graph::Softmax&) const { return kPlain; }
  List operator()(const graph::SoftmaxGradient&) const { return kPlain; }
  List operator()(const graph::EvenClassWeights&) const { return kPlain; }
  List operator()(const graph::FixedClassWeights&) const { return kPlain; }
  List operator()(const graph::SegmentationSums&) const { return kReductions; }
  List operator()(const graph::SegmentationSumsGradient&) const { return kMaps; }
  List operator()(const graph::WeightedMean&) const { return kPlain; }
  List operator()(const graph::WeightedMeanGradient&) const { return kPlain; }
  List operator()(const graph::SegmentationScores&) const { return kPlain; }
  List operator()(const graph::NegativeLogLikelihood&) const { return kPlain; }
  List operator()(const graph::NegativeLogLikelihoodGradient&) const { return kPlain; }
  List operator()(const graph::Moment&) const { return kPlain; }
  List operator()(const graph::AdamStep&) const { return kPlain; }
  List operator()(const graph::RmspropStep&) const { return kPlain; }
  List operator()(const graph::SgdStep&) const { return kPlain; }
  List operator()(const graph::AllFinite&) const { return kPlain; }
  List operator()(const graph::Unscale&) const { return kPlain; }
  List operator()(const graph::NextLossScale&) const { return kPlain; }
  List operator()(const graph::GoodSteps&) const { return kPlain; }
  List operator()(const graph::AllReduce&) const { return kPlain; }
};

Support can(const Implementation& way, const Graph& graph, const Step& step) {
  const bool rounded = graph::partials_of(graph, step.leader.value) != NumberFormat::f32;
  if (rounded != (way.arithmetic.sums == Arithmetic::Sums::rounded)) {
    return Support::no(rounded ? "its sums are not rounded" : "no sum is to be rounded");
  }
  return way.can(graph, step);
}

}  // namespace

std::span<const Implementation> implementations_of(const graph::AnyOp& op) {
  return std::visit(ListOf{}, op);
}

std::vector<KernelChoice> choices_for(const Graph& graph, const Step& step) {
  std::vector<KernelChoice> choices;
  for (const Implementation& way : implementations_of(graph.node(step.leader.value).op)) {
    choices.push_back({std::string(way.name), can(way, graph, step)});
  }
  return choices;
}

const Implementation& choose(const Graph& graph, const Step& step) {
  const Node& node = graph.node(step.leader.value);
  std::string refusals;
  for (const Implementation& way : implementations_of(node.op)) {
    const Support support = can(way, graph, step);
    if (support.ok) {
      return way;
    }
    refusals += "\n  " + std::string(way.name) + ": " + support.why_not;
  }
  throw TargetError("there is no way to compute " + std::string(name_of(node.op)) + " at '" +
                    node.name + "' on the CPU:" + refusals);
}

namespace {

// Limits of the kernels, whatever the layout. An op without an overload has none.

Support limit(const Graph& graph, const Node& node, const graph::Conv& conv) {
  if (conv.slope != 1) {
    return Support::no("it activates its result; here those who read it do");
  }
  const std::int64_t depth = graph::feature_map(graph.type(node.operands[1]), "a kernel").depth;
  return depth <= kMostKernelDepth
             ? Support::yes()
             : Support::no("the kernel is " + std::to_string(depth) + " deep; at most " +
                           std::to_string(kMostKernelDepth) + " slices are kept in the cache");
}

Support limit(const Graph& graph, const Node& node, const graph::ConvTranspose&) {
  return limit(graph, node, graph::Conv{});
}

Support limit(const Graph&, const Node& node, const graph::ConvKernelGradient&) {
  return graph::feature_map(node.type, "a kernel").depth <= kMostKernelDepth
             ? Support::yes()
             : Support::no("the kernel is deeper than " + std::to_string(kMostKernelDepth));
}

Support pooling_limit(const graph::Factors& window) {
  return window[0] * window[1] <= kMostPooledRows
             ? Support::yes()
             : Support::no("the pooling window covers more than " +
                           std::to_string(kMostPooledRows) + " rows");
}

Support limit(const Graph&, const Node&, const graph::MaxPool& op) {
  return pooling_limit(op.window);
}

Support limit(const Graph&, const Node&, const graph::MaxPoolGradient& op) {
  return pooling_limit(op.window);
}

Support limit(const Graph& graph, const Node& node, const graph::SegmentationSums&) {
  const graph::TensorType& logits = graph.type(node.operands[0]);
  if (logits.dim(1) > kBlock) {
    return Support::no("there are " + std::to_string(logits.dim(1)) +
                       " classes; the loss kernels hold at most " + std::to_string(kBlock));
  }
  if (logits.rank() == 5) {
    return Support::no("the logits have a depth axis; hand the planes over with depth_to_planes");
  }
  return Support::yes();
}

Support limit(const Graph& graph, const Node& node, const graph::SegmentationSumsGradient&) {
  return limit(graph, node, graph::SegmentationSums{});
}

}  // namespace

Support supports_node(const Graph& graph, graph::ValueId id) {
  const Node& node = graph.node(id);
  return std::visit(
      [&](const auto& op) {
        if constexpr (requires { limit(graph, node, op); }) {
          return limit(graph, node, op);
        } else {
          return Support::yes();
        }
      },
      node.op);
}

}  // namespace cosmic::target::cpu
