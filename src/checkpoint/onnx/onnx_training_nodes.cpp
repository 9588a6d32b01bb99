#include "checkpoint/onnx/onnx_training_nodes.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace cosmic::checkpoint::onnx {
namespace {

using graph::FeatureMap;
using graph::Shape;
using graph::TensorType;
using Axes = std::vector<std::int64_t>;

Axes all_but(std::size_t rank, std::int64_t kept) {
  Axes axes;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (axis != kept) {
      axes.push_back(axis);
    }
  }
  return axes;
}

Shape extents_of(const TensorType& type) {
  return {type.shape.begin() + 2, type.shape.end()};
}

/// The axes of space out of (depth, row, column).
Axes in_space(const std::array<std::int64_t, 3>& factors, std::size_t rank) {
  return {factors.end() - static_cast<std::ptrdiff_t>(rank - 2), factors.end()};
}

/// Batch and channels exchanged, which turns a kernel's gradient into a convolution.
Axes exchanged(std::size_t rank) {
  Axes order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return order;
}

// --- normalisation: images as [group, image, channel, pixel] ---

constexpr std::int64_t kImageAxis = 1;
constexpr std::int64_t kPixelAxis = 3;

Shape grouped_shape(const TensorType& type, std::int64_t groups) {
  const FeatureMap map = graph::feature_map(type, "a normalised tensor");
  return {groups, map.batch / groups, map.channels, map.pixels()};
}

std::string grouped(Emitter& e, const std::string& x, const TensorType& type, std::int64_t groups) {
  return e.reshape(x, grouped_shape(type, groups));
}

/// The first or the second half of [2, groups, channels], as [group, 1, channel, 1].
std::string half(Emitter& e, const std::string& both, const TensorType& type, std::int64_t which) {
  return e.reshape(e.slice(both, 0, which, which + 1), {type.dim(1), 1, type.dim(2), 1});
}

/// From two tensors [group, 1, channel, 1] to [2, groups, channels].
std::string joined_halves(Emitter& e, const std::string& first, const std::string& second,
                          const TensorType& type) {
  const Shape row{1, type.dim(1), type.dim(2)};
  return e.emit("Concat", {e.reshape(first, row), e.reshape(second, row)},
                {{"axis", std::int64_t{0}}});
}

void require_own_statistics(Emitter& e, std::string_view op, std::int64_t pooled_channels) {
  if (pooled_channels != 1) {
    throw e.refusal(op, "its channels share statistics");
  }
}

/// 1 / sqrt(variance + epsilon), as [group, 1, channel, 1].
std::string reciprocal_root(Emitter& e, const std::string& statistics, const TensorType& type,
                            double epsilon) {
  return e.divide(e.number(1),
                  e.emit("Sqrt", {e.add(half(e, statistics, type, 1), e.number(epsilon))}));
}

/// One number per channel, as [1, 1, channel, 1].
std::string per_channel(Emitter& e, const std::string& x, const TensorType& type) {
  return e.reshape(x, {1, 1, type.dim(0), 1});
}

// --- loss ---

/// Where labels [image, 1, ...] are each of the classes: [image, class, ...].
std::string one_hot(Emitter& e, const std::string& labels, const TensorType& label_type,
                    std::int64_t classes) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(classes));
  std::iota(numbers.begin(), numbers.end(), 0);
  Shape shape(label_type.rank(), 1);
  shape[1] = classes;
  return e.cast(e.emit("Equal", {labels, e.int32s(shape, numbers)}), ElementType::f32);
}

/// All that loss and gradient know about pixels.
struct Pixels {
  std::string one_hot;
  std::string log_probability;
  std::string cross_entropy;  ///< [image, 1, ...]
  std::string weight;         ///< [image, 1, ...]
};

/// Operands as those of SegmentationSums.
Pixels pixels_of(Emitter& e, graph::Focal focal) {
  const TensorType& logits = e.operand_type(0);
  const TensorType& weights = e.operand_type(2);
  Pixels pixels;
  // Not LogSoftmax, which took all axes from the given one on before opset 13.
  const std::string shifted =
      e.subtract(e.operand(0), e.emit("ReduceMax", {e.operand(0)}, {{"axes", Axes{1}}}));
  pixels.log_probability =
      e.subtract(shifted, e.emit("Log", {e.sum(e.emit("Exp", {shifted}), {1})}));
  pixels.one_hot = one_hot(e, e.operand(1), e.operand_type(1), logits.dim(1));
  pixels.cross_entropy =
      e.emit("Neg", {e.sum(e.multiply(pixels.one_hot, pixels.log_probability), {1})});
  const std::string chosen =
      e.multiply(grouped(e, pixels.one_hot, logits, weights.dim(0)),
                 e.reshape(e.operand(2), {weights.dim(0), 1, weights.dim(1), 1}));
  Shape one_channel = logits.shape;
  one_channel[1] = 1;
  pixels.weight = e.reshape(e.sum(chosen, {2}), one_channel);
  if (focal == graph::Focal::yes) {
    const std::string miss =
        e.subtract(e.number(1), e.emit("Exp", {e.emit("Neg", {pixels.cross_entropy})}));
    pixels.weight = e.multiply(pixels.weight, e.divide(e.multiply(miss, miss), e.number(3)));
  }
  return pixels;
}

constexpr std::int64_t kColumns = 2;  // of what SegmentationSums is here: weighted loss, weight

/// [groups, 1]: of the sums of a group's images, one column; the second with 1 in place of 0.
std::string group_column(Emitter& e, std::int64_t groups, std::int64_t column) {
  const std::int64_t images = e.operand_type(0).dim(0) / groups;
  const std::string sums = e.sum(e.reshape(e.operand(0), {groups, images, kColumns}), {1});
  return e.reshape(e.slice(sums, 2, column, column + 1), {groups, 1});
}

/// A group without any weight has no loss: what it would be divided by is then 1.
std::string divisor(Emitter& e, const std::string& weight) {
  return e.emit("Where", {e.emit("Equal", {weight, e.number(0)}), e.number(1), weight});
}

// --- optimizers ---

void require_fixed_constants(Emitter& e, std::string_view op, std::size_t operands) {
  if (e.operands() > operands) {
    throw e.refusal(op, "its constants are inputs");
  }
}

/// 1 - beta^steps. For the first steps that is the difference of two nearly equal numbers; with
/// a = -steps ln(beta) it is 1 - exp(-a) = 2 t / (1 + t), t = tanh(a / 2), which loses no digits.
std::string bias_correction(Emitter& e, const std::string& steps, double beta) {
  const std::string t = e.emit("Tanh", {e.scale(steps, -0.5 * std::log(beta))});
  return e.divide(e.add(t, t), e.add(t, e.number(1)));
}

}  // namespace

std::string training_nodes(Emitter& e, const graph::Fill& op) {
  return e.emit("Expand", {e.number(op.value), e.integers(op.type.shape)});
}

std::string training_nodes(Emitter& e, const graph::Scale& op) {
  return e.scale(e.operand(0), op.factor);
}

std::string training_nodes(Emitter& e, const graph::LeakyReluGradient& op) {
  return e.emit("Where", {e.emit("Greater", {e.operand(0), e.number(0)}), e.operand(1),
                          e.scale(e.operand(1), op.slope)});
}

std::string training_nodes(Emitter& e, const graph::ChannelSum&) {
  return e.reshape(e.sum(e.operand(0), all_but(e.operand_type(0).rank(), 1)), e.type().shape);
}

/// A convolution of the image with dy in place of a kernel: images are what is added up over, so
/// they take the place of channels; the stride of the layer is the distance of dy's pixels.
std::string training_nodes(Emitter& e, const graph::ConvKernelGradient& op) {
  const TensorType& image = e.operand_type(0);
  const TensorType& dy = e.operand_type(1);
  const Axes stride = in_space(op.window.stride, image.rank());
  Axes pads = in_space(op.window.pad, image.rank());
  pads.insert(pads.end(), pads.begin(), pads.end());
  std::string result =
      e.emit("Conv",
             {e.transpose(e.operand(0), exchanged(image.rank())),
              e.transpose(e.operand(1), exchanged(image.rank()))},
             {{"kernel_shape", extents_of(dy)}, {"dilations", stride}, {"pads", pads}});
  for (std::size_t axis = 0; axis < op.kernel.size(); ++axis) {
    // Pixels beyond the last window, where the stride leaves some.
    const std::int64_t extent =
        image.dim(axis + 2) + 2 * pads[axis] - (dy.dim(axis + 2) - 1) * stride[axis];
    if (extent > op.kernel[axis]) {
      result = e.slice(result, static_cast<std::int64_t>(axis) + 2, 0, op.kernel[axis]);
    }
  }
  return e.transpose(result, exchanged(image.rank()));
}

std::string training_nodes(Emitter& e, const graph::Statistics& op) {
  require_own_statistics(e, op.name, op.pooled_channels);
  const std::string x = grouped(e, e.operand(0), e.operand_type(0), op.groups);
  const std::string mean = e.mean(x, {kImageAxis, kPixelAxis});
  const std::string deviation = e.subtract(x, mean);
  const std::string variance = e.mean(e.multiply(deviation, deviation), {kImageAxis, kPixelAxis});
  return joined_halves(e, mean, variance, e.type());
}

std::string training_nodes(Emitter& e, const graph::StatisticsGradient& op) {
  require_own_statistics(e, op.name, op.pooled_channels);
  const TensorType& type = e.operand_type(1);
  const Shape shape = grouped_shape(e.operand_type(0), op.groups);
  const double share = 1.0 / static_cast<double>(shape[1] * shape[3]);
  const std::string deviation =
      e.subtract(e.reshape(e.operand(0), shape), half(e, e.operand(1), type, 0));
  const std::string dmean = e.scale(half(e, e.operand(2), type, 0), share);
  const std::string dvariance = e.scale(half(e, e.operand(2), type, 1), 2 * share);
  return e.reshape(e.add(e.multiply(deviation, dvariance), dmean), e.type().shape);
}

std::string training_nodes(Emitter& e, const graph::NormCoefficients& op) {
  const std::string scale = e.multiply(per_channel(e, e.operand(1), e.operand_type(1)),
                                       reciprocal_root(e, e.operand(0), e.type(), op.epsilon));
  const std::string shift = e.subtract(per_channel(e, e.operand(2), e.operand_type(2)),
                                       e.multiply(half(e, e.operand(0), e.type(), 0), scale));
  return joined_halves(e, scale, shift, e.type());
}

/// The formulas are those of target/reference.
std::string training_nodes(Emitter& e, const graph::NormCoefficientsGradient& op) {
  using Of = graph::NormCoefficientsGradient::Of;
  const TensorType& type = e.operand_type(0);
  const std::string dshift = half(e, e.operand(2), type, 1);
  if (op.of == Of::bias) {
    return e.reshape(e.sum(dshift, {0}), e.type().shape);
  }
  const std::string r = reciprocal_root(e, e.operand(0), type, op.epsilon);
  const std::string dscale = e.subtract(half(e, e.operand(2), type, 0),
                                        e.multiply(half(e, e.operand(0), type, 0), dshift));
  if (op.of == Of::weight) {
    return e.reshape(e.sum(e.multiply(r, dscale), {0}), e.type().shape);
  }
  const std::string weighted = e.multiply(per_channel(e, e.operand(1), e.operand_type(1)), r);
  const std::string dmean = e.emit("Neg", {e.multiply(weighted, dshift)});
  const std::string dvariance =
      e.scale(e.multiply(weighted, e.multiply(e.multiply(r, r), dscale)), -0.5);
  return joined_halves(e, dmean, dvariance, type);
}

std::string training_nodes(Emitter& e, const graph::ChannelAffine&) {
  const TensorType& type = e.operand_type(1);
  const std::string x = grouped(e, e.operand(0), e.operand_type(0), type.dim(1));
  return e.reshape(
      e.add(e.multiply(x, half(e, e.operand(1), type, 0)), half(e, e.operand(1), type, 1)),
      e.type().shape);
}

std::string training_nodes(Emitter& e, const graph::ChannelScale&) {
  const TensorType& type = e.operand_type(1);
  const std::string dy = grouped(e, e.operand(0), e.operand_type(0), type.dim(1));
  return e.reshape(e.multiply(dy, half(e, e.operand(1), type, 0)), e.type().shape);
}

std::string training_nodes(Emitter& e, const graph::ChannelProducts& op) {
  const std::string x = grouped(e, e.operand(0), e.operand_type(0), op.groups);
  const std::string dy = grouped(e, e.operand(1), e.operand_type(1), op.groups);
  return joined_halves(e, e.sum(e.multiply(dy, x), {kImageAxis, kPixelAxis}),
                       e.sum(dy, {kImageAxis, kPixelAxis}), e.type());
}

std::string training_nodes(Emitter& e, const graph::RunningUpdate& op) {
  const bool variance = op.of == graph::RunningUpdate::Of::variance;
  const auto count = static_cast<double>(op.count);
  const double unbiased = variance && op.count > 1 ? count / (count - 1) : 1;
  const TensorType& type = e.operand_type(1);
  const std::string observed = e.slice(e.operand(1), 0, variance ? 1 : 0, variance ? 2 : 1);
  std::string running = e.operand(0);
  for (std::int64_t group = 0; group < type.dim(1); ++group) {
    const std::string one = e.reshape(e.slice(observed, 1, group, group + 1), e.type().shape);
    running = e.add(e.scale(running, 1 - op.momentum), e.scale(one, op.momentum * unbiased));
  }
  return running;
}

std::string training_nodes(Emitter& e, const graph::Increment& op) {
  const std::string by = e.integers({op.by});
  return e.type().shape.empty() ? e.add(e.operand(0), e.reshape(by, {})) : e.add(e.operand(0), by);
}

std::string training_nodes(Emitter& e, const graph::Slice& op) {
  return e.slice(e.operand(0), op.axis, op.begin, op.end);
}

std::string training_nodes(Emitter& e, const graph::Embed& op) {
  const TensorType& part = e.operand_type(0);
  const auto axis = static_cast<std::size_t>(op.axis);
  Axes pads(2 * part.rank(), 0);
  pads[axis] = op.begin;
  pads[part.rank() + axis] = op.extent - op.begin - part.dim(axis);
  return e.emit("Pad", {e.operand(0), e.integers(pads)});
}

std::string training_nodes(Emitter& e, const graph::PlanesToDepth& op) {
  const TensorType& from = e.operand_type(0);
  const std::string apart = e.reshape(
      e.operand(0), {op.planes, from.dim(0) / op.planes, from.dim(1), from.dim(2), from.dim(3)});
  return e.transpose(apart, {1, 2, 0, 3, 4});
}

/// Windows side by side in an axis of their own: dy where the first of the largest is.
std::string training_nodes(Emitter& e, const graph::MaxPoolGradient& op) {
  const FeatureMap from = graph::feature_map(e.operand_type(0), "the operand");
  const auto [depth, rows, columns] = op.window;
  if (depth != 1 || from.rows % rows != 0 || from.columns % columns != 0) {
    throw e.refusal(op.name, "its windows do not cover planes exactly");
  }
  const std::int64_t planes = from.batch * from.channels * from.depth;
  const Shape cut{planes, from.rows / rows, rows, from.columns / columns, columns};
  const Shape windows{planes, cut[1], cut[3], rows, columns};
  const Shape flat{planes, cut[1], cut[3], rows * columns};
  const std::string x = e.reshape(e.transpose(e.reshape(e.operand(0), cut), {0, 1, 3, 2, 4}), flat);
  const std::string largest =
      e.emit("ArgMax", {x}, {{"axis", std::int64_t{3}}, {"keepdims", std::int64_t{1}}});
  Axes places(static_cast<std::size_t>(rows * columns));
  std::iota(places.begin(), places.end(), 0);
  const std::string there =
      e.cast(e.emit("Equal", {largest, e.integers(places)}), ElementType::f32);
  const std::string dy = e.reshape(e.operand(1), {planes, cut[1], cut[3], 1});
  const std::string spread = e.reshape(e.multiply(there, dy), windows);
  return e.reshape(e.transpose(spread, {0, 1, 3, 2, 4}), e.type().shape);
}

std::string training_nodes(Emitter& e, const graph::UpsampleGradient& op) {
  const TensorType& dy = e.operand_type(0);
  if (op.interpolation == graph::Interpolation::nearest) {
    const Axes factor = in_space(op.factor, dy.rank());
    const std::int64_t pixels =
        std::accumulate(factor.begin(), factor.end(), std::int64_t{1}, std::multiplies<>());
    return e.scale(
        e.emit("AveragePool", {e.operand(0)}, {{"kernel_shape", factor}, {"strides", factor}}),
        static_cast<double>(pixels));
  }
  // Twice as many rows and columns. Along an axis pixel i of the small image went into 2i - 1 to
  // 2i + 2 with these weights; at an edge the weight of what lies beyond went to the edge.
  constexpr std::array<float, 4> kWeights{0.25F, 0.75F, 0.75F, 0.25F};
  std::vector<float> kernel;
  for (const float row : kWeights) {
    for (const float column : kWeights) {
      kernel.push_back(row * column);
    }
  }
  const FeatureMap map = graph::feature_map(dy, "the gradient");
  const std::string planes =
      e.reshape(e.operand(0), {map.batch * map.channels * map.depth, 1, map.rows, map.columns});
  const std::string padded =
      e.emit("Pad", {planes, e.integers({0, 0, 1, 1, 0, 0, 1, 1})}, {{"mode", "edge"}});
  const std::string small = e.emit("Conv", {padded, e.reals({1, 1, 4, 4}, kernel)},
                                   {{"kernel_shape", Axes{4, 4}}, {"strides", Axes{2, 2}}});
  return e.reshape(small, e.type().shape);
}

std::string training_nodes(Emitter& e, const graph::EvenClassWeights& op) {
  const TensorType& labels = e.operand_type(0);
  Shape shape = labels.shape;
  shape[1] = op.classes;
  const std::string hot = grouped(e, one_hot(e, e.operand(0), labels, op.classes),
                                  {graph::DType::f32, shape}, op.groups);
  const std::string counts = e.reshape(e.sum(hot, {kImageAxis, kPixelAxis}), e.type().shape);
  return e.divide(e.number(0.3333), e.add(counts, e.number(1)));
}

std::string training_nodes(Emitter& e, const graph::FixedClassWeights& op) {
  std::vector<float> weights;
  for (std::int64_t i = 0; i < e.type().elements(); ++i) {
    weights.push_back(static_cast<float>(op.weight(i % op.classes)));
  }
  return e.reals(e.type().shape, weights);
}

std::string training_nodes(Emitter& e, const graph::SegmentationSums& op) {
  const Pixels pixels = pixels_of(e, op.focal);
  const Axes axes = all_but(e.operand_type(0).rank(), 0);
  const Shape column{e.operand_type(0).dim(0), 1};
  const std::string loss =
      e.reshape(e.sum(e.multiply(pixels.weight, pixels.cross_entropy), axes), column);
  const std::string weight = e.reshape(e.sum(pixels.weight, axes), column);
  return e.emit("Concat", {loss, weight}, {{"axis", std::int64_t{1}}});
}

std::string training_nodes(Emitter& e, const graph::SegmentationSumsGradient& op) {
  const Pixels pixels = pixels_of(e, op.focal);
  Shape one_number(e.type().rank(), 1);
  one_number[0] = e.type().dim(0);
  const std::string dloss = e.reshape(e.slice(e.operand(3), 1, 0, 1), one_number);
  const std::string difference =
      e.subtract(e.emit("Exp", {pixels.log_probability}), pixels.one_hot);
  return e.multiply(difference, e.multiply(pixels.weight, dloss));
}

std::string training_nodes(Emitter& e, const graph::WeightedMean& op) {
  const std::string loss = group_column(e, op.groups, 0);
  const std::string weight = group_column(e, op.groups, 1);
  return e.reshape(e.sum(e.divide(loss, divisor(e, weight)), {0}), {});
}

std::string training_nodes(Emitter& e, const graph::WeightedMeanGradient& op) {
  const std::int64_t images = e.operand_type(0).dim(0);
  const std::string weight = group_column(e, op.groups, 1);
  const std::string none = e.emit("Equal", {weight, e.number(0)});
  const std::string share =
      e.emit("Where", {none, e.number(0), e.divide(e.operand(1), divisor(e, weight))});
  const std::string of_images = e.reshape(
      e.emit("Expand", {share, e.integers({op.groups, images / op.groups})}), {images, 1});
  return e.emit("Pad", {of_images, e.integers({0, 0, 0, 1})});
}

std::string training_nodes(Emitter& e, const graph::Moment& op) {
  require_fixed_constants(e, op.name, 2);
  const std::string& gradient = e.operand(1);
  const std::string power = op.power == 2 ? e.multiply(gradient, gradient) : gradient;
  return e.add(e.scale(e.operand(0), op.decay), e.scale(power, op.gain));
}

std::string training_nodes(Emitter& e, const graph::AdamStep& op) {
  require_fixed_constants(e, op.name, 5);
  const std::string& rate = e.operand(3);
  const std::string steps = e.cast(e.operand(4), ElementType::f32);
  const std::string first = e.divide(e.operand(1), bias_correction(e, steps, op.beta1));
  const std::string root =
      e.emit("Sqrt", {e.divide(e.operand(2), bias_correction(e, steps, op.beta2))});
  std::string parameter = e.operand(0);
  if (op.weight_decay != 0) {
    parameter = e.multiply(parameter, e.subtract(e.number(1), e.scale(rate, op.weight_decay)));
  }
  return e.subtract(parameter,
                    e.divide(e.multiply(rate, first), e.add(root, e.number(op.epsilon))));
}

std::string training_nodes(Emitter& e, const graph::RmspropStep& op) {
  require_fixed_constants(e, op.name, 4);
  const std::string root = e.add(e.emit("Sqrt", {e.operand(2)}), e.number(op.epsilon));
  return e.subtract(e.operand(0), e.divide(e.multiply(e.operand(3), e.operand(1)), root));
}

std::string training_nodes(Emitter& e, const graph::SgdStep&) {
  return e.subtract(e.operand(0), e.multiply(e.operand(2), e.operand(1)));
}

}  // namespace cosmic::checkpoint::onnx
