#include "target/cuda/lower.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

#include "core/error.hpp"
#include "graph/ops/exchange_begins.hpp"
#include "graph/ops/loss.hpp"
#include "target/cuda/launch_geometry.hpp"
#include "target/cuda/lower_images.hpp"
#include "target/cuda/recipe_builder.hpp"

namespace cosmic::target::cuda {
namespace {

using graph::FeatureMap;
using graph::Node;
using graph::TensorType;
using graph::ValueId;

static_assert(kSumsPerImage == graph::kPixelSums);
static_assert(kScoresPerPlane == graph::kScores);
static_assert(AllFiniteBody::kMostTensors == graph::kMostChecked);
static_assert(kNeutrinoUnion == static_cast<int>(graph::PixelSum::neutrino_union));
static_assert(kForegroundCorrect == static_cast<int>(graph::PixelSum::foreground_correct));

/// Calls visit(Element{}) with an unsigned number as large as the elements.
template <class Visit>
void with_element(const TensorType& type, const Visit& visit) {
  switch (graph::size_of(type.dtype)) {
    case 1:
      return visit(std::uint8_t{});
    case 4:
      return visit(std::uint32_t{});
    case 8:
      return visit(std::uint64_t{});
    default:
      COSMIC_ASSERT(false);
  }
}

/// A tensor around one of its axes: [outer, extent, inner].
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
};

AxisView around_axis(const TensorType& type, std::int64_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? view.outer : at == axis ? view.extent : view.inner) *= type.dim(i);
  }
  return view;
}

/// Turns the op of one node into work. An op without an overload does not compile.
class Lowering {
 public:
  Lowering(const Addresses& addresses, ValueId value, Rooms& rooms)
      : addresses_(addresses), node_(addresses.graph().node(value)), value_(value), rooms_(rooms) {}

  std::vector<Work> take() { return std::move(works_); }

  void operator()(const graph::Input&) { COSMIC_ASSERT(false); }
  void operator()(const graph::State&) { COSMIC_ASSERT(false); }

  // Always on images; see lower_images.cpp.
  void operator()(const graph::Conv&) { COSMIC_ASSERT(false); }
  void operator()(const graph::ConvTranspose&) { COSMIC_ASSERT(false); }
  void operator()(const graph::ConvKernelGradient&) { COSMIC_ASSERT(false); }
  void operator()(const graph::Statistics&) { COSMIC_ASSERT(false); }
  void operator()(const graph::StatisticsGradient&) { COSMIC_ASSERT(false); }
  void operator()(const graph::ChannelProducts&) { COSMIC_ASSERT(false); }
  void operator()(const graph::MaxPool&) { COSMIC_ASSERT(false); }
  void operator()(const graph::MaxPoolGradient&) { COSMIC_ASSERT(false); }
  void operator()(const graph::Upsample&) { COSMIC_ASSERT(false); }
  void operator()(const graph::UpsampleGradient&) { COSMIC_ASSERT(false); }

  void operator()(const graph::Fill& op) {
    works_.push_back(fill(type(), out<std::byte>(), op.value));
  }

  // Pointwise.
  void operator()(const graph::Add&) { map(AddBody{in(0), in(1), out()}, elements()); }
  void operator()(const graph::Scale& op) {
    map(ScaleBody{in(0), out(), static_cast<float>(op.factor)}, elements());
  }
  void operator()(const graph::LeakyRelu& op) {
    map(LeakyReluBody{in(0), out(), static_cast<float>(op.slope)}, elements());
  }
  void operator()(const graph::LeakyReluGradient& op) {
    map(LeakyReluGradientBody{in(0), in(1), out(), static_cast<float>(op.slope)}, elements());
  }
  void operator()(const graph::ChannelBias&) {
    const FeatureMap x = feature_map(type());
    map(ChannelBiasBody{in(0), in(1), out(), x.channels, x.pixels()}, elements());
  }
  void operator()(const graph::ChannelSum&) {
    const FeatureMap x = feature_map(type(0));
    reduce(ChannelSumBody{in(0), out(), x.channels, x.pixels()}, x.channels, x.batch * x.pixels());
  }

  void operator()(const graph::ScaleFilters& op) {
    const AxisView view = around_axis(type(), op.filter_axis);
    map(ScaleFiltersBody{in(0), in(1), out(), view.extent, view.inner}, elements());
  }

  // Normalisation.
  void operator()(const graph::RestateStatistics& op) {
    const std::int64_t half = elements() / 2;
    map(RestateStatisticsBody{in(0), out(), half, op.as == graph::SecondMoment::variance}, half);
  }
  void operator()(const graph::NormCoefficients& op) {
    const std::int64_t half = elements() / 2;
    const Weights weight = weights(1);
    const Weights bias = weights(2);
    map(NormCoefficientsBody{in(0), weight.values, bias.values, weight.format, bias.format, out(),
                             type().dim(2), half, op.epsilon},
        half);
  }
  void operator()(const graph::NormCoefficientsGradient& op) {
    using Of = graph::NormCoefficientsGradient::Of;
    const std::int64_t channels = type(0).dim(2);
    const std::int64_t half = type(0).elements() / 2;
    const CoefficientGradients gradients{in(0), in(2), half, op.epsilon};
    if (op.of == Of::statistics) {
      const Weights weight = weights(1);
      map(NormStatisticsGradientBody{gradients, weight.values, weight.format, out(), channels},
          half);
    } else {
      map(NormParameterGradientBody{gradients, out(), channels, op.of == Of::weight}, channels);
    }
  }
  void operator()(const graph::ChannelAffine&) {
    map(ChannelAffineBody{in(0), in(1), out(), per_channel(type(), type(1).dim(1))}, elements());
  }
  void operator()(const graph::ChannelScale&) {
    map(ChannelScaleBody{in(0), in(1), out(), per_channel(type(), type(1).dim(1))}, elements());
  }
  void operator()(const graph::RunningUpdate& op) {
    const bool variance = op.of == graph::RunningUpdate::Of::variance;
    const std::int64_t groups = type(1).dim(1);
    const std::int64_t channels = type(1).dim(2);
    const auto count = static_cast<double>(op.count);
    // One element has no unbiased variance; its biased one, zero, stands in.
    const double unbiased = variance && op.count > 1 ? count / (count - 1) : 1.0;
    map(RunningUpdateBody{in(0), in(1) + (variance ? groups * channels : 0), out(), groups,
                          channels, op.momentum, unbiased},
        channels);
  }
  void operator()(const graph::Increment& op) {
    map(IncrementBody{in<std::int64_t>(0), out<std::int64_t>(), op.by}, elements());
  }

  // Arrangement.
  void operator()(const graph::Concat& op) {
    const AxisView whole = around_axis(type(), op.axis);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < node_.operands.size(); ++i) {
      const AxisView part = around_axis(type(i), op.axis);
      with_element(type(), [&]<class Element>(Element) {
        map(PutBody<Element>{in<Element>(i), out<Element>(), part.extent * part.inner,
                             whole.extent * whole.inner, begin * whole.inner},
            type(i).elements());
      });
      begin += part.extent;
    }
  }
  void operator()(const graph::Slice& op) {
    const AxisView whole = around_axis(type(0), op.axis);
    const AxisView part = around_axis(type(), op.axis);
    with_element(type(), [&]<class Element>(Element) {
      const Element* const first = in<Element>(0) + op.begin * whole.inner;
      if (in<Element>(0) != nullptr && first == out<Element>()) {
        return;  // it lies in its operand
      }
      map(TakeBody<Element>{in<Element>(0), out<Element>(), part.extent * part.inner,
                            whole.extent * whole.inner, op.begin * whole.inner},
          elements());
    });
  }
  void operator()(const graph::Embed& op) {
    const AxisView whole = around_axis(type(), op.axis);
    const AxisView part = around_axis(type(0), op.axis);
    with_element(type(), [&]<class Element>(Element) {
      map(EmbedBody<Element>{in<Element>(0), out<Element>(), part.extent * part.inner,
                             whole.extent * whole.inner, op.begin * whole.inner},
          elements());
    });
  }
  void operator()(const graph::Reshape&) { copy_operand(); }
  void operator()(const graph::Copy&) { copy_operand(); }
  void operator()(const graph::Reorder&) { copy_operand(); }
  void operator()(const graph::PlanesToChannels& op) {
    swap_axes(op.planes, type(0).dim(0) / op.planes);
  }
  void operator()(const graph::ChannelsToPlanes& op) { swap_axes(type(0).dim(0), op.planes); }
  void operator()(const graph::DepthToPlanes&) {
    swap_axes(type(0).dim(0) * type(0).dim(1), type(0).dim(2));
  }
  void operator()(const graph::PlanesToDepth& op) {
    swap_axes(op.planes, type(0).dim(0) / op.planes * type(0).dim(1));
  }

  // Matrices.
  void operator()(const graph::MatMul& op) {
    const bool a_turned = op.a == graph::Transposed::yes;
    const bool b_turned = op.b == graph::Transposed::yes;
    const std::int64_t a_columns = type(0).dim(1);
    const std::int64_t b_columns = type(1).dim(1);
    const MatMulBody product{in(0),
                             in(1),
                             out(),
                             type().dim(1),
                             type(0).dim(a_turned ? 0 : 1),
                             a_turned ? 1 : a_columns,
                             a_turned ? a_columns : 1,
                             b_turned ? 1 : b_columns,
                             b_turned ? b_columns : 1,
                             graph::takes_tf32(addresses_.graph(), value_)};
    // Few threads with long sums would leave most of the device idle.
    if (product.inner >= kThreadsPerBlock && elements() <= kBlocksWanted) {
      reduce(MatMulSumBody{product}, elements(), product.inner);
    } else {
      map(product, elements());
    }
  }
  void operator()(const graph::Softmax& op) {
    const AxisView view = around_axis(type(), op.axis);
    map(
        SoftmaxBody{
            in(0), out(), {view.extent, view.inner}, op.kind == graph::SoftmaxKind::logarithm},
        view.outer * view.inner);
  }
  void operator()(const graph::SoftmaxGradient& op) {
    const AxisView view = around_axis(type(), op.axis);
    map(SoftmaxGradientBody{in(0),
                            in(1),
                            out(),
                            {view.extent, view.inner},
                            op.kind == graph::SoftmaxKind::logarithm},
        view.outer * view.inner);
  }

  // Losses.
  void operator()(const graph::EvenClassWeights& op) {
    const EvenClassWeightsBody body{in<const std::uint8_t>(0), out(), op.classes,
                                    type(0).elements() / op.groups};
    reduce(body, op.groups * body.outputs_per_group(), body.terms());
  }
  void operator()(const graph::FixedClassWeights& op) {
    map(FixedClassWeightsBody{out(),
                              op.classes,
                              {static_cast<float>(op.weight(0)), static_cast<float>(op.weight(1)),
                               static_cast<float>(op.weight(2))}},
        elements());
  }
  void operator()(const graph::SegmentationSums& op) {
    const Segmentation of = segmentation_of(addresses_, node_, op.focal == graph::Focal::yes);
    reduce(SegmentationSumsBody{of, out()}, type(0).dim(0), of.scores.depth * of.scores.pixels());
  }
  void operator()(const graph::SegmentationSumsGradient& op) {
    Segmentation of = segmentation_of(addresses_, node_, op.focal == graph::Focal::yes);
    of.dsums = in(3);
    map(SegmentationGradientBody{of, image_of(node_, out<std::byte>())},
        static_cast<std::int64_t>(of.scores.images) * of.scores.pixels());
  }
  void operator()(const graph::WeightedMean& op) {
    map(WeightedMeanBody{{in(0), type(0).dim(0) / op.groups}, out(), op.groups}, 1);
  }
  void operator()(const graph::WeightedMeanGradient& op) {
    map(WeightedMeanGradientBody{{in(0), type().dim(0) / op.groups}, in(1), out()}, elements());
  }
  void operator()(const graph::SegmentationScores& op) {
    map(SegmentationScoresBody{in(0), out(), op.planes, type(0).dim(0) / op.planes, op.pixels}, 1);
  }
  void operator()(const graph::NegativeLogLikelihood&) {
    const std::int64_t images = type(0).dim(0);
    reduce(
        NegativeLogLikelihoodBody{in(0), in<const std::uint8_t>(1), out(), images, type(0).dim(1)},
        1, images);
  }
  void operator()(const graph::NegativeLogLikelihoodGradient& op) {
    map(NegativeLogLikelihoodGradientBody{in<const std::uint8_t>(0), in(1), out(), type().dim(0),
                                          op.classes},
        elements());
  }

  // Updates.
  void operator()(const graph::Moment& op) {
    map(MomentBody{in(0), in(1), in_or_null(2), out(), op.decay, op.gain, op.power == 2},
        elements());
  }
  void operator()(const graph::AdamStep& op) {
    map(AdamStepBody{in(0), in(1), in(2), in(3), in<const std::int64_t>(4), in_or_null(5), out(),
                     op.beta1, op.beta2, op.epsilon, op.weight_decay},
        elements());
  }
  void operator()(const graph::RmspropStep& op) {
    map(RmspropStepBody{in(0), in(1), in(2), in(3), in_or_null(4), out(), op.epsilon}, elements());
  }
  void operator()(const graph::SgdStep&) {
    map(SgdStepBody{in(0), in(1), in(2), out()}, elements());
  }

  // This process's share, put together; CudaExecutable has it added up.
  void operator()(const graph::AllReduce& op) {
    std::vector<graph::TensorType> types;
    for (std::size_t i = 0; i < node_.operands.size(); ++i) {
      types.push_back(type(i));
    }
    const std::vector<std::int64_t> begins = graph::exchange_begins(types);
    for (std::size_t i = 0; i < begins.size(); ++i) {
      float* const share = out() + begins[i];
      if (in(i) == nullptr || in(i) != share || op.factor != 1) {
        map(ScaleBody{in(i), share, static_cast<float>(op.factor)}, types[i].elements());
      }
    }
    if (op.format != NumberFormat::f32) {
      map(RoundBody{out(), static_cast<Format>(op.format)}, elements());
    }
  }

  // Loss scaling.
  void operator()(const graph::AllFinite&) {
    AllFiniteBody body{{}, {}, out()};
    std::int64_t end = 0;
    for (std::size_t i = 0; i < node_.operands.size(); ++i) {
      end += type(i).elements();
      body.tensors[i] = in(i);
      body.ends[i] = end;
    }
    reduce(body, 1, end);
  }
  void operator()(const graph::Unscale&) { map(UnscaleBody{in(0), in(1), out()}, elements()); }
  void operator()(const graph::NextLossScale& op) {
    map(NextLossScaleBody{in(0), in<const std::int64_t>(1), in(2), out(),
                          static_cast<float>(op.growth), static_cast<float>(op.backoff),
                          static_cast<float>(graph::kLeastLossScale), op.interval},
        1);
  }
  void operator()(const graph::GoodSteps& op) {
    map(GoodStepsBody{in<const std::int64_t>(0), in(1), out<std::int64_t>(), op.interval}, 1);
  }

 private:
  template <class Element = const float>
  Element* in(std::size_t operand) const {
    return addresses_.at<Element>(node_.operands.at(operand));
  }
  struct Weights {
    const float* values;
    Format format;
  };
  Weights weights(std::size_t operand) const {
    const ValueId id = node_.operands.at(operand);
    if (!is_looked_through(addresses_.graph(), id)) {
      return {addresses_.at(id), Format::f32};
    }
    const Node& copy = addresses_.graph().node(id);
    return {addresses_.at(copy.operands[0]), format_of(copy)};
  }
  const float* in_or_null(std::size_t operand) const {
    return operand < node_.operands.size() ? in(operand) : nullptr;
  }
  template <class Element = float>
  Element* out() const {
    return addresses_.at<Element>(value_);
  }
  const TensorType& type() const { return node_.type; }
  const TensorType& type(std::size_t operand) const {
    return addresses_.graph().type(node_.operands.at(operand));
  }
  std::int64_t elements() const { return type().elements(); }

  static FeatureMap feature_map(const TensorType& type) {
    return graph::feature_map(type, "a feature map");
  }

  template <class Body>
  void map(const Body& body, std::int64_t count) {
    works_.push_back(Map<Body>{body, count, nullptr});
  }
  template <class Body>
  void reduce(const Body& body, std::int64_t outputs, std::int64_t terms) {
    Reduction<Body> reduction{body, outputs, terms, nullptr};
    reduction.partials = rooms_.scratch.take<double>(partial_numbers(reduction));
    works_.push_back(reduction);
  }

  /// Nothing, where the operand has the same place.
  void copy_operand() {
    if (in<std::byte>(0) == nullptr || in<std::byte>(0) != out<std::byte>()) {
      works_.push_back(copy(type(), in<std::byte>(0), out<std::byte>()));
    }
  }

  /// The operand is [first, second, .], the result [second, first, .].
  void swap_axes(std::int64_t first, std::int64_t second) {
    const std::int64_t inner_bytes = type().bytes() / (first * second);
    constexpr std::int64_t kWide = sizeof(Words<4>);
    if (inner_bytes % kWide == 0) {
      map(SwapAxesBody<Words<4>>{in<Words<4>>(0), out<Words<4>>(), first, second,
                                 inner_bytes / kWide},
          type().bytes() / kWide);
      return;
    }
    with_element(type(), [&]<class Element>(Element) {
      map(SwapAxesBody<Element>{in<Element>(0), out<Element>(), first, second,
                                elements() / (first * second)},
          elements());
    });
  }

  static PerChannel per_channel(const TensorType& type, std::int64_t groups) {
    const FeatureMap x = feature_map(type);
    return {x.batch / groups, groups, x.channels, x.pixels()};
  }
  const Addresses& addresses_;
  const Node& node_;
  ValueId value_;
  Rooms& rooms_;
  std::vector<Work> works_;
};

/// It reads and writes images, but evaluates nothing.
bool is_loss_gradient(const Node& node) {
  return graph::op_if<graph::SegmentationSumsGradient>(node) != nullptr;
}

/// Every element needs a thread, and places within an image are counted in 32 bits.
Support fits(const graph::Graph& graph, const Node& node) {
  const auto too_large = [](const TensorType& type) {
    constexpr std::int64_t kMost = kMostBlocks / 2;
    return type.elements() / kThreadsPerBlock > kMost ||
           (type.rank() >= 4 &&
            type.elements() / std::max<std::int64_t>(1, type.dim(0) * type.dim(1)) > kMost);
  };
  if (too_large(node.type)) {
    return Support::no("its result " + graph::to_string(node.type) +
                       " is larger than a grid of threads; make images or batches smaller");
  }
  for (const ValueId operand : node.operands) {
    if (too_large(graph.type(operand))) {
      return Support::no("its operand " + graph::to_string(graph.type(operand)) +
                         " is larger than a grid of threads; make images or batches smaller");
    }
  }
  return Support::yes();
}

}  // namespace

Support supports_node(const graph::Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  if (node.format != NumberFormat::f32 && graph.numerics.rounding != Rounding::nearest) {
    return Support::no("numbers are rounded to the nearest; stochastic rounding has no kernels");
  }
  if (graph::partials_of(graph, id) != NumberFormat::f32) {
    return Support::no("sums are float32; sums in " + to_string(graph.numerics.partials) +
                       " have no kernels");
  }
  if (node.layout == graph::Layout::interleaved) {
    return Support::no("images are kept in blocks of channels, not interleaved");
  }
  return fits(graph, node);
}

std::string kernel_name(const graph::Graph& graph, const compile::Step& step) {
  const Node& node = graph.node(step.leader.value);
  if (is_looked_through(graph, step.leader.value)) {
    return "rounded where it is read";
  }
  if (is_loss_gradient(node)) {
    return "a thread per pixel";
  }
  if (graph::op_if<graph::AllReduce>(node) != nullptr) {
    return "a thread per element, then a sum over processes";
  }
  if (is_on_images(graph, step)) {
    return image_kernel_name(graph, step);
  }
  const bool sums = graph::reduction_of(node.op) != graph::Reduction::none ||
                    graph::op_if<graph::NegativeLogLikelihood>(node) != nullptr ||
                    graph::op_if<graph::EvenClassWeights>(node) != nullptr ||
                    graph::op_if<graph::AllFinite>(node) != nullptr;
  return sums ? "sums in two stages" : "a thread per element";
}

bool is_looked_through(const graph::Graph& graph, ValueId id) {
  const Node& copy = graph.node(id);
  if (graph::op_if<graph::Copy>(copy) == nullptr || copy.layout != graph::Layout::plain ||
      graph::op_if<graph::State>(graph.node(copy.operands[0])) == nullptr) {
    return false;
  }
  const auto is_it = [&](const graph::NamedValue& output) { return output.value == id; };
  if (std::any_of(graph.outputs.begin(), graph.outputs.end(), is_it)) {
    return false;
  }
  for (std::size_t i = id.index() + 1; i < graph.size(); ++i) {
    const Node& reader = graph.nodes()[i];
    for (std::size_t k = 0; k < reader.operands.size(); ++k) {
      const bool looks =
          (k == 1 && (graph::op_if<graph::NormCoefficients>(reader) != nullptr ||
                      graph::op_if<graph::NormCoefficientsGradient>(reader) != nullptr)) ||
          (k == 2 && graph::op_if<graph::NormCoefficients>(reader) != nullptr) ||
          ((k == 1 || k == 2) && (graph::op_if<graph::Conv>(reader) != nullptr ||
                                  graph::op_if<graph::ConvTranspose>(reader) != nullptr));
      if (reader.operands[k] == id && !looks) {
        return false;
      }
    }
  }
  return true;
}

std::vector<Work> lower(const Addresses& addresses, const compile::Step& step, Rooms& rooms,
                        std::vector<Work>& before) {
  const graph::Graph& graph = addresses.graph();
  const ValueId value = step.leader.value;
  rooms.scratch.begin_step();
  std::vector<Work> works;
  if (is_looked_through(graph, value)) {
    return works;
  }
  if (is_on_images(graph, step) && !is_loss_gradient(graph.node(value))) {
    works = lower_images(addresses, step, rooms, before);
  } else {
    Lowering lowering(addresses, value, rooms);
    std::visit(lowering, static_cast<const graph::OneOfAllOps&>(graph.node(value).op));
    works = lowering.take();
  }
  if (step.leader.rounded == compile::RoundedWhen::complete) {
    works.push_back(round_in_place(addresses, value));
  }
  for (const compile::Rider& rider : step.riders) {
    if (rider.computed.rounded == compile::RoundedWhen::complete) {
      works.push_back(round_in_place(addresses, rider.computed.value));
    }
  }
  return works;
}

Work round_in_place(const Addresses& addresses, ValueId value) {
  const Node& node = addresses.graph().node(value);
  return Map<RoundBody>{{addresses.at(value), format_of(node)}, node.type.elements(), nullptr};
}

void guard(std::vector<Work>& works, const float* number) {
  for (Work& work : works) {
    std::visit(
        [&](auto& one) {
          if constexpr (requires { one.guard; }) {
            one.guard = number;
          } else {
            COSMIC_ASSERT(false);
          }
        },
        work);
  }
}

namespace {

template <class Element>
Work fill_with(std::byte* to, double value, std::int64_t count) {
  return Map<FillBody<Element>>{
      {reinterpret_cast<Element*>(to), static_cast<Element>(value)}, count, nullptr};
}

template <class Element>
Work scatter_with(const TensorType& type, const UploadedPixels& pixels, std::byte* to) {
  const std::int64_t images = type.rank() == 0 ? 1 : type.dim(0);
  return Map<ScatterBody<Element>>{
      {pixels.begins, pixels.indices, reinterpret_cast<const Element*>(pixels.values),
       reinterpret_cast<Element*>(to), images, images == 0 ? 0 : type.elements() / images},
      pixels.count,
      nullptr};
}

}  // namespace

Work fill(const TensorType& type, std::byte* to, double value) {
  switch (type.dtype) {
    case graph::DType::f32:
      return fill_with<float>(to, value, type.elements());
    case graph::DType::i64:
      return fill_with<std::int64_t>(to, value, type.elements());
    case graph::DType::u8:
      return fill_with<std::uint8_t>(to, value, type.elements());
  }
  COSMIC_ASSERT(false);
}

Work copy(const TensorType& type, const std::byte* from, std::byte* to) {
  Work work;
  with_element(type, [&]<class Element>(Element) {
    work = Map<CopyBody<Element>>{
        {reinterpret_cast<const Element*>(from), reinterpret_cast<Element*>(to)},
        type.elements(),
        nullptr};
  });
  return work;
}

Work scatter_pixels(const TensorType& type, const UploadedPixels& pixels, std::byte* to) {
  switch (type.dtype) {
    case graph::DType::f32:
      return scatter_with<float>(type, pixels, to);
    case graph::DType::i64:
      return scatter_with<std::int64_t>(type, pixels, to);
    case graph::DType::u8:
      return scatter_with<std::uint8_t>(type, pixels, to);
  }
  COSMIC_ASSERT(false);
}

}  // namespace cosmic::target::cuda
