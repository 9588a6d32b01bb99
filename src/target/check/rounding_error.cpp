#include "target/check/rounding_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.hpp"
#include "graph/ops/exchange_begins.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::check {
namespace {

using reference::run;
using Variance = std::vector<double>;

/// The variance of rounding 1 to a number with this many bits.
constexpr double rounding_of_one(int bits) {
  const double unit = 1.0 / static_cast<double>(std::int64_t{1} << bits);
  return unit * unit / 3;
}

/// Of float32, which every target computes in.
constexpr double kOnce = rounding_of_one(24);

/// Elementary functions are a few units off in the last place, and take a few operations.
constexpr double kFunction = 64;

/// A 3x3 convolution may be computed by Winograd's algorithm F(4x4, 3x3) (Lavin and Gray, 2016):
/// four by four results come out of one tile, and its transforms, whose entries go up to 8, spread
/// the errors of the largest of them over all.
constexpr std::int64_t kWinogradKernel = 3;
constexpr std::int64_t kWinogradTile = 4;
constexpr double kWinogradGrowth = 4;

/// How far a number may be from zero, in standard deviations, if its sign is to be trusted.
constexpr double kSureSign = 6;

Tensor tensor_of(const graph::TensorType& type, Variance data) {
  return {type, std::move(data)};
}

template <class Function>
Tensor mapped(const Tensor& x, const Function& function) {
  Tensor y = x;
  std::transform(x.data.begin(), x.data.end(), y.data.begin(), function);
  return y;
}

Tensor magnitude(const Tensor& x) {
  return mapped(x, [](double v) { return std::abs(v); });
}

Tensor squared(const Tensor& x) {
  return mapped(x, [](double v) { return v * v; });
}

double largest(const Tensor& x) {
  double most = 0;
  for (const double v : x.data) {
    most = std::max(most, std::abs(v));
  }
  return most;
}

void add(Variance& to, const Variance& more, double factor = 1) {
  to.resize(std::max(to.size(), more.size()), 0.0);
  for (std::size_t i = 0; i < more.size(); ++i) {
    to[i] += factor * more[i];
  }
}

/// So many roundings of numbers of these magnitudes.
Variance roundings(double count, const Tensor& of) {
  Variance variance(of.data.size());
  for (std::size_t i = 0; i < variance.size(); ++i) {
    variance[i] = count * kOnce * of.data[i] * of.data[i];
  }
  return variance;
}

/// The largest of each neighbourhood of a map, along rows and along columns.
Variance widened(const Variance& values, const graph::FeatureMap& map, std::int64_t radius) {
  const auto along = [&](const Variance& from, std::int64_t extent, std::int64_t stride) {
    Variance to = from;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(from.size()); ++i) {
      const std::int64_t at = i / stride % extent;
      const std::int64_t first = std::max<std::int64_t>(at - radius, 0);
      const std::int64_t last = std::min(at + radius, extent - 1);
      for (std::int64_t k = first; k <= last; ++k) {
        to[i] = std::max(to[i], from[i + (k - at) * stride]);
      }
    }
    return to;
  };
  return along(along(values, map.columns, 1), map.rows, map.columns);
}

/// How sums of products are rounded: in float32, or in the narrow format of the program.
struct Sums {
  double once = kOnce;  ///< the variance of one rounding of 1
  double floor = 0;     ///< the least variance of one rounding, of numbers too small for the format
  double terms_each = 1;  ///< products that are added before the sum is rounded
};

/// What is cut off is at most one unit instead of half a unit: four times the variance.
constexpr double kCutOff = 4;

/// Do product units compute it? Theirs are sums of several products at once, which are cut off and
/// not rounded (Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA tensor cores,
/// 2021).
bool is_of_product_units(const graph::Graph& graph, const graph::Node& node) {
  return graph.numerics.narrow_factors &&
         (graph::op_if<graph::Conv>(node) != nullptr ||
          graph::op_if<graph::ConvTranspose>(node) != nullptr ||
          graph::op_if<graph::ConvKernelGradient>(node) != nullptr);
}

Sums sums_of(const graph::Graph& graph, graph::ValueId id) {
  const NumberFormat partials = graph::partials_of(graph, id);
  const Rounding rounding = graph.numerics.rounding;
  if (partials == NumberFormat::f32) {
    return {is_of_product_units(graph, graph.node(id)) ? kCutOff * kOnce : kOnce};
  }
  const double once = rounding_of_one(partials == NumberFormat::bf16 ? 8 : 11);
  const double least = partials == NumberFormat::bf16 ? 0 : rounding_of_one(25);
  // Rounding at random is at most one unit off instead of half a unit: four times the variance.
  const double factor = rounding == Rounding::nearest ? 1 : 4;
  return {factor * once, factor * least, static_cast<double>(graph::kPartialsGroup)};
}

/// The variance of a node's result. An op without a rule here does not compile.
class VarianceOf {
 public:
  VarianceOf(std::span<const Estimate* const> in, const Tensor& y, const Sums& sums)
      : in_(in), y_(y), sums_(sums) {
    for (const Estimate* operand : in) {
      values_.push_back(&operand->value);
    }
  }

  // Given from outside, or moved.
  Variance operator()(const graph::Input&) const { return {}; }
  Variance operator()(const graph::State&) const { return {}; }
  Variance operator()(const graph::Increment&) const { return {}; }
  Variance operator()(const graph::Concat& op) const { return moved(op); }
  Variance operator()(const graph::Slice& op) const { return moved(op); }
  Variance operator()(const graph::Embed& op) const { return moved(op); }
  Variance operator()(const graph::Reshape& op) const { return moved(op); }
  Variance operator()(const graph::PlanesToChannels& op) const { return moved(op); }
  Variance operator()(const graph::ChannelsToPlanes& op) const { return moved(op); }
  Variance operator()(const graph::DepthToPlanes& op) const { return moved(op); }
  Variance operator()(const graph::PlanesToDepth& op) const { return moved(op); }
  Variance operator()(const graph::Copy& op) const { return moved(op); }
  Variance operator()(const graph::Reorder& op) const { return moved(op); }
  Variance operator()(const graph::MaxPool& op) const { return moved(op); }

  // A few roundings of each element.
  Variance operator()(const graph::Fill&) const { return roundings(1, y_); }
  Variance operator()(const graph::FixedClassWeights&) const { return roundings(1, y_); }
  Variance operator()(const graph::EvenClassWeights&) const { return roundings(4, y_); }
  Variance operator()(const graph::NegativeLogLikelihoodGradient& op) const {
    return with_operands(op, roundings(4, y_));
  }
  Variance operator()(const graph::SegmentationScores& op) const {
    return with_operands(op, roundings(4, y_));
  }
  Variance operator()(const graph::Add&) const {
    Variance variance = roundings(1, y_);
    add(variance, in_[0]->variance);
    add(variance, in_[1]->variance);
    return variance;
  }
  Variance operator()(const graph::Scale& op) const {
    Variance variance = roundings(2, y_);
    add(variance, in_[0]->variance, op.factor * op.factor);
    return variance;
  }
  Variance operator()(const graph::AllReduce& op) const {
    Variance variance = roundings(2, y_);
    if (op.format != NumberFormat::f32) {  // a number between two of them may become either
      const double unit = rounding_of_one(op.format == NumberFormat::bf16 ? 8 : 11) / kOnce;
      add(variance, roundings(4 * unit, y_));
    }
    std::vector<graph::TensorType> types;
    for (const reference::Tensor* const value : values_) {
      types.push_back(value->type);
    }
    const std::vector<std::int64_t> begins = graph::exchange_begins(types);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto at = static_cast<std::size_t>(begins[i]);
      for (std::size_t k = 0; k < in_[i]->variance.size(); ++k) {
        variance[at + k] += op.factor * op.factor * in_[i]->variance[k];
      }
    }
    return variance;
  }
  Variance operator()(const graph::LeakyRelu& op) const {
    Variance variance = roundings(1, y_);
    add(variance, in_[0]->variance, std::max(1.0, op.slope * op.slope));
    return variance;
  }
  /// Which side of the kink an uncertain x is on is anybody's guess.
  Variance operator()(const graph::LeakyReluGradient& op) const {
    Variance variance = roundings(1, y_);
    add(variance, in_[1]->variance, std::max(1.0, op.slope * op.slope));
    for (std::size_t i = 0; i < in_[0]->variance.size(); ++i) {
      const double x = values_[0]->data[i];
      const double jump = (1 - op.slope) * values_[1]->data[i];
      const bool either = x * x <= kSureSign * kSureSign * in_[0]->variance[i];
      variance[i] += either ? jump * jump : 0;
    }
    return variance;
  }
  Variance operator()(const graph::ChannelBias& op) const {
    Variance variance = moved(op);
    add(variance, roundings(1, y_));
    return variance;
  }

  // Products of two operands, summed up or not: linear in each.
  Variance operator()(const graph::ScaleFilters& op) const { return product(op, 1); }
  Variance operator()(const graph::ChannelScale& op) const { return product(op, 1); }
  Variance operator()(const graph::ChannelAffine& op) const {
    Variance variance = roundings(1, y_);
    add(variance, squares(op, kOnce));
    return variance;
  }
  Variance operator()(const graph::MatMul& op) const {
    const bool transposed = op.a == graph::Transposed::yes;
    return product(op, values_[0]->type.dim(transposed ? 0 : 1));
  }
  Variance operator()(const graph::Conv& op) const {
    return convolution(op, kernel_elements() / values_[1]->type.dim(0), op.window);
  }
  Variance operator()(const graph::ConvTranspose& op) const {
    return convolution(op, kernel_elements() / values_[1]->type.dim(1), op.window);
  }
  Variance operator()(const graph::ConvKernelGradient& op) const {
    Variance variance = product(op, values_[1]->type.elements() / values_[1]->type.dim(1));
    const graph::FeatureMap kernel = graph::feature_map(y_.type, "a kernel");
    if (may_be_winograd(kernel, op.window)) {
      variance = widened(variance, kernel, kWinogradKernel);
      add(variance, Variance(variance), kWinogradGrowth - 1);
    }
    return variance;
  }
  Variance operator()(const graph::ChannelProducts& op) const {
    const std::int64_t terms = 2 * values_[0]->type.elements() / y_.type.elements();
    const double each = kOnce * (static_cast<double>(terms) / 6 + 1);
    Variance variance = drift(terms);
    const Tensor x = square_of(0, each);
    const Tensor dy = square_of(1, each);
    const Tensor* const operands[] = {&x, &dy};
    add(variance, run(op, operands, y_.type).data, each);
    return variance;
  }

  // Sums with fixed weights.
  Variance operator()(const graph::ChannelSum& op) const {
    return sum(op, values_[0]->type.elements() / y_.type.elements());
  }
  Variance operator()(const graph::Upsample& op) const { return sum(op, 4); }
  Variance operator()(const graph::UpsampleGradient& op) const { return sum(op, 16); }

  /// Which pixel of a window is the largest is anybody's guess where pixels are uncertain. Equal
  /// ones are made of equal numbers, and stay equal.
  Variance operator()(const graph::MaxPoolGradient& op) const {
    const Tensor of_gradient = variance_tensor(*in_[1]);
    const Tensor* const operands[] = {values_[0], &of_gradient};
    Variance variance = run(op, operands, y_.type).data;
    if (!in_[0]->exact()) {
      add_rivals(op.window, variance);
    }
    return variance;
  }

  /// Mean and variance, be they found from sums of x and x^2 or better.
  Variance operator()(const graph::Statistics& op) const {
    const std::int64_t terms = values_[0]->type.elements() / (y_.type.elements() / 2);
    const double n = static_cast<double>(terms * op.pooled_channels);
    const std::size_t half = y_.data.size() / 2;
    Variance variance(y_.data.size());
    for (std::size_t i = 0; i < half; ++i) {
      const double mean_square = y_.data[i] * y_.data[i] + y_.data[half + i];
      // T of the mean is mean_square / n, that of the square at most mean_square^2 or so.
      variance[i] = kOnce * (n / 3 + 4) * y_.data[i] * y_.data[i] + kOnce * mean_square;
      variance[half + i] = kOnce * (n / 3 + 8) * mean_square * mean_square;
    }
    return with_operands(op, std::move(variance));
  }
  Variance operator()(const graph::StatisticsGradient& op) const {
    // All terms with the same sign: |dmean| / n + |dvariance| 2 (|x| + |mean|) / n.
    const Tensor x = magnitude(*values_[0]);
    const Tensor statistics = mapped(*values_[1], [](double v) { return -std::abs(v); });
    const Tensor gradient = magnitude(*values_[2]);
    const Tensor* const operands[] = {&x, &statistics, &gradient};
    return with_operands(op, roundings(8, run(op, operands, y_.type)));
  }
  Variance operator()(const graph::RestateStatistics& op) const {
    // The terms of what may be a difference, with the same sign.
    Tensor terms = y_;
    const std::size_t half = y_.data.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double mean = values_[0]->data[i];
      terms.data[half + i] = std::abs(values_[0]->data[half + i]) + mean * mean;
    }
    return with_operands(op, roundings(4, terms));
  }
  Variance operator()(const graph::NormCoefficients& op) const {
    const Tensor statistics = with_negative_mean(*values_[0]);
    const Tensor weight = magnitude(*values_[1]);
    const Tensor bias = magnitude(*values_[2]);
    const Tensor* const operands[] = {&statistics, &weight, &bias};
    return with_operands(op, roundings(12, run(op, operands, y_.type)));
  }
  Variance operator()(const graph::NormCoefficientsGradient& op) const {
    const Tensor statistics = with_negative_mean(*values_[0]);
    const Tensor weight = magnitude(*values_[1]);
    const Tensor gradient = magnitude(*values_[2]);
    const Tensor* const operands[] = {&statistics, &weight, &gradient};
    const auto groups = static_cast<double>(values_[0]->type.dim(1));
    return with_operands(op, roundings(16 + groups, run(op, operands, y_.type)));
  }
  Variance operator()(const graph::RunningUpdate& op) const {
    const Tensor running = magnitude(*values_[0]);
    const Tensor statistics = magnitude(*values_[1]);
    const Tensor* const operands[] = {&running, &statistics};
    const auto groups = static_cast<double>(values_[1]->type.dim(1));
    return with_operands(op, roundings(4 + 4 * groups, run(op, operands, y_.type)));
  }

  // Functions of the logits. A rounded exponential is that of a logit which is off by as much.
  Variance operator()(const graph::Softmax& op) const {
    const double logit = largest(*values_[0]);
    const bool logarithm = op.kind == graph::SoftmaxKind::logarithm;
    Variance variance = roundings(kFunction + 4 * logit * logit, y_);
    for (double& v : variance) {
      v = logarithm ? kOnce * (kFunction + 4 * logit * logit) : v;
    }
    return with_operands(op, std::move(variance));
  }
  Variance operator()(const graph::SoftmaxGradient& op) const {
    // |dy| + exp(y) sum |dy|, or y (|dy| + sum y |dy|).
    const Tensor negative = mapped(*values_[1], [](double v) { return -std::abs(v); });
    const Tensor* const operands[] = {values_[0], &negative};
    Tensor terms = run(op, operands, y_.type);
    for (std::size_t i = 0; i < terms.data.size(); ++i) {
      const double factor = op.kind == graph::SoftmaxKind::logarithm ? 1 : values_[0]->data[i];
      terms.data[i] += 2 * factor * std::abs(values_[1]->data[i]);
    }
    const double logarithm = op.kind == graph::SoftmaxKind::logarithm ? largest(*values_[0]) : 0;
    const auto classes = static_cast<double>(y_.type.dim(static_cast<std::size_t>(op.axis)));
    return with_operands(op, roundings(kFunction + classes + logarithm * logarithm, terms));
  }
  Variance operator()(const graph::SegmentationSums& op) const {
    const double logit = largest(*values_[0]);
    const double weight = largest(*values_[2]);
    const graph::FeatureMap map = graph::feature_map(values_[0]->type, "the logits");
    const auto pixels = static_cast<double>(map.pixels());
    Variance variance(y_.data.size(), 0.0);
    for (std::int64_t image = 0; image < map.batch; ++image) {
      for (const graph::PixelSum which :
           {graph::PixelSum::weighted_loss, graph::PixelSum::weight}) {
        const auto i =
            static_cast<std::size_t>(image * graph::kPixelSums + static_cast<std::int64_t>(which));
        const double pixel = weight * (1 + logit) * std::sqrt(kFunction + logit * logit);
        variance[i] =
            kOnce * ((pixels / 3 + kFunction) * y_.data[i] * y_.data[i] + pixels * pixel * pixel);
      }
    }  // all other columns count pixels
    return with_operands(op, std::move(variance));
  }
  Variance operator()(const graph::SegmentationSumsGradient& op) const {
    return with_operands(op, variance_of_logit_gradients(op.focal));
  }
  Variance operator()(const graph::WeightedMean& op) const {
    const auto images = static_cast<double>(values_[0]->type.dim(0));
    return with_operands(op, roundings(8 + images, y_));
  }
  Variance operator()(const graph::WeightedMeanGradient& op) const {
    const auto images = static_cast<double>(values_[0]->type.dim(0));
    return with_operands(op, roundings(8 + images, y_));
  }
  Variance operator()(const graph::NegativeLogLikelihood& op) const {
    const auto images = static_cast<double>(values_[0]->type.dim(0));
    return with_operands(op, roundings(4 + images, y_));
  }

  // Updates: a small step from where the state was.
  Variance operator()(const graph::Moment& op) const {
    std::vector<const Tensor*> operands = values_;
    const Tensor moment = magnitude(*values_[0]);
    const Tensor gradient = magnitude(*values_[1]);
    operands[0] = &moment;
    operands[1] = &gradient;
    return with_operands(op, roundings(6, run(op, operands, y_.type)));
  }
  Variance operator()(const graph::AdamStep& op) const { return update(op); }
  Variance operator()(const graph::RmspropStep& op) const { return update(op); }
  Variance operator()(const graph::SgdStep& op) const { return update(op); }
  // The gradients of a step are stored, so that it is known which of them are finite.
  Variance operator()(const graph::AllFinite&) const { return {}; }
  Variance operator()(const graph::GoodSteps&) const { return {}; }
  Variance operator()(const graph::NextLossScale&) const { return roundings(1, y_); }
  Variance operator()(const graph::Unscale& op) const {
    return with_operands(op, roundings(2, y_));
  }

 private:
  /// Elements that go somewhere else, and the largest of a few.
  template <class Op>
  Variance moved(const Op& op) const {
    if (std::all_of(in_.begin(), in_.end(), [](const Estimate* e) { return e->exact(); })) {
      return {};
    }
    std::vector<Tensor> variances;
    for (const Estimate* operand : in_) {
      variances.push_back(variance_tensor(*operand));
    }
    std::vector<const Tensor*> operands;
    for (const Tensor& variance : variances) {
      operands.push_back(&variance);
    }
    return run(op, operands, y_.type).data;
  }

  static Tensor variance_tensor(const Estimate& operand) {
    return operand.exact() ? reference::zeros(operand.value.type)
                           : tensor_of(operand.value.type, operand.variance);
  }

  /// x^2 with what its own variance is against `each`, the variance of a product of ones: then
  /// each * product(square_of(x), square_of(w)) has the errors of both operands in it.
  Tensor square_of(std::size_t operand, double each) const {
    Tensor square = squared(*values_[operand]);
    add(square.data, in_[operand]->variance, 1 / each);
    return square;
  }

  template <class Op>
  Variance squares(const Op& op, double each) const {
    std::vector<Tensor> held;
    std::vector<const Tensor*> operands;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      held.push_back(square_of(i, each));
    }
    for (const Tensor& square : held) {
      operands.push_back(&square);
    }
    Variance variance = run(op, operands, y_.type).data;
    for (double& v : variance) {
      v *= each;
    }
    return variance;
  }

  /// What the drift of the partial sums to the result adds.
  Variance drift(std::int64_t terms) const {
    const double sums = std::ceil(static_cast<double>(terms) / sums_.terms_each);
    Variance variance(y_.data.size());
    for (std::size_t i = 0; i < variance.size(); ++i) {
      variance[i] = sums_.once * (sums / 3 + 1) * y_.data[i] * y_.data[i] + sums_.floor * sums;
    }
    return variance;
  }

  /// Sums of this many products of two operands, and of what is added to them.
  template <class Op>
  Variance product(const Op& op, std::int64_t terms) const {
    const double sums = std::ceil(static_cast<double>(terms) / sums_.terms_each);
    Variance variance = drift(terms);
    add(variance, squares(op, sums_.once * (sums / 6 + 1)));
    return variance;
  }

  /// dy^2 for every pixel of a window that may be the largest, where there are several.
  void add_rivals(graph::Factors window, Variance& variance) const {
    const graph::FeatureMap from = graph::feature_map(y_.type, "an image");
    const graph::FeatureMap to = graph::feature_map(values_[1]->type, "a pooled image");
    window[0] = y_.type.rank() == 4 ? 1 : window[0];
    const graph::FeatureMap one_window{1, 1, window[0], window[1], window[2]};
    reference::for_each_element(to, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
      const std::int64_t pixel = i % to.pixels();
      const reference::Position corner{pixel / (to.rows * to.columns) * window[0],
                                       pixel / to.columns % to.rows * window[1],
                                       pixel % to.columns * window[2]};
      std::vector<std::size_t> pixels;
      reference::for_each_position(one_window, [&](const reference::Position& step) {
        pixels.push_back(static_cast<std::size_t>(reference::element(
            from, image, channel,
            {corner.depth + step.depth, corner.row + step.row, corner.column + step.column})));
      });
      const std::vector<double>& x = values_[0]->data;
      const std::size_t winner = *std::max_element(
          pixels.begin(), pixels.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
      const double square = values_[1]->data[static_cast<std::size_t>(i)] *
                            values_[1]->data[static_cast<std::size_t>(i)];
      bool contested = false;
      for (const std::size_t rival : pixels) {
        const double room =
            kSureSign * (std::sqrt(in_[0]->variance[rival]) + std::sqrt(in_[0]->variance[winner]));
        if (x[rival] != x[winner] && x[winner] - x[rival] <= room) {
          variance[rival] += square;
          contested = true;
        }
      }
      if (contested) {  // any of those that are largest now
        for (const std::size_t rival : pixels) {
          variance[rival] += x[rival] == x[winner] ? square : 0;
        }
      }
    });
  }

  std::int64_t kernel_elements() const { return values_[1]->type.elements(); }

  static bool may_be_winograd(const graph::FeatureMap& kernel, const graph::Window& window) {
    return kernel.rows == kWinogradKernel && kernel.columns == kWinogradKernel &&
           window.stride[1] == 1 && window.stride[2] == 1;
  }

  template <class Op>
  Variance convolution(const Op& op, std::int64_t terms, const graph::Window& window) const {
    Variance variance = product(op, terms);
    if (may_be_winograd(graph::feature_map(values_[1]->type, "a kernel"), window)) {
      variance = widened(variance, graph::feature_map(y_.type, "the result"), kWinogradTile - 1);
      add(variance, Variance(variance), kWinogradGrowth - 1);
    }
    return variance;
  }

  template <class Op>
  Variance sum(const Op& op, std::int64_t terms) const {
    const double each = kOnce * (static_cast<double>(terms) / 6 + 1);
    Variance variance = drift(terms);
    const Tensor square = square_of(0, each);
    const Tensor* const operands[] = {&square};
    add(variance, run(op, operands, y_.type).data, each);
    return variance;
  }

  /// y = parameter - step.
  template <class Op>
  Variance update(const Op& op) const {
    Variance variance = roundings(2, y_);
    for (std::size_t i = 0; i < variance.size(); ++i) {
      const double step = y_.data[i] - values_[0]->data[i];
      variance[i] += 32 * kOnce * step * step;
    }
    return with_operands(op, std::move(variance));
  }

  static Tensor with_negative_mean(const Tensor& statistics) {
    Tensor result = statistics;
    for (std::size_t i = 0; i < result.data.size() / 2; ++i) {
      result.data[i] = -std::abs(result.data[i]);
    }
    return result;
  }

  /// dloss * w * (softmax - onehot). The error of 1 - p, which the focal weight and the label's
  /// class have, is that of p: small against 1, not against 1 - p.
  Variance variance_of_logit_gradients(graph::Focal focal) const {
    const Tensor& logits = *values_[0];
    const Tensor& labels = *values_[1];
    const Tensor& weights = *values_[2];
    const Tensor& dsums = *values_[3];
    const double logit = largest(logits);
    const graph::FeatureMap map = graph::feature_map(logits.type, "the logits");
    const std::int64_t images_per_group = map.batch / weights.type.dim(0);
    Variance variance(y_.data.size());
    for (std::int64_t image = 0; image < map.batch; ++image) {
      for (std::int64_t pixel = 0; pixel < map.pixels(); ++pixel) {
        const auto at = [&](std::int64_t c) {
          return static_cast<std::size_t>((image * map.channels + c) * map.pixels() + pixel);
        };
        const auto label = static_cast<std::int64_t>(
            labels.data[static_cast<std::size_t>(image * map.pixels() + pixel)]);
        const double dloss =
            dsums.data[static_cast<std::size_t>(image * graph::kPixelSums)] *
            weights.data[static_cast<std::size_t>(image / images_per_group * map.channels + label)];
        double sum = 0;
        for (std::int64_t c = 0; c < map.channels; ++c) {
          sum += std::exp(logits.data[at(c)] - logits.data[at(label)]);
        }
        const double miss = 1 - 1 / sum;
        const double scale = focal == graph::Focal::yes ? dloss * miss * (miss + 1e-7) : dloss;
        for (std::int64_t c = 0; c < map.channels; ++c) {
          variance[at(c)] = kOnce * (kFunction + logit * logit) * scale * scale;
        }
      }
    }
    return variance;
  }

  /// Adds what the errors of the operands do, found by trying: a few times, each operand off by its
  /// standard deviation, one way or the other.
  template <class Op>
  Variance with_operands(const Op& op, Variance variance) const {
    if (std::all_of(in_.begin(), in_.end(), [](const Estimate* e) { return e->exact(); })) {
      return variance;
    }
    constexpr int kTries = 6;
    Variance most(variance.size(), 0.0);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      std::vector<Tensor> moved_operands;
      std::vector<const Tensor*> operands;
      for (std::size_t k = 0; k < in_.size(); ++k) {
        RandomStream random(static_cast<std::uint64_t>(attempt), "operand " + std::to_string(k));
        moved_operands.push_back(*values_[k]);
        for (std::size_t i = 0; i < in_[k]->variance.size(); ++i) {
          const double sign = random.uniform() < 0.5 ? -1 : 1;
          moved_operands.back().data[i] += sign * std::sqrt(in_[k]->variance[i]);
        }
      }
      for (const Tensor& operand : moved_operands) {
        operands.push_back(&operand);
      }
      const Tensor other = run(op, operands, y_.type);
      for (std::size_t i = 0; i < most.size(); ++i) {
        const double difference = other.data[i] - y_.data[i];
        most[i] = std::max(most[i], difference * difference);
      }
    }
    add(variance, most);
    return variance;
  }

  std::span<const Estimate* const> in_;
  const Tensor& y_;
  Sums sums_;
  std::vector<const Tensor*> values_;
};

/// The value in double, with running sums rounded where the program says so.
struct ValueOf {
  const std::vector<const Tensor*>& in;
  const graph::TensorType& type;
  const reference::RoundSum& round;

  Tensor operator()(const graph::Input&) const { return reference::zeros(type); }
  Tensor operator()(const graph::State&) const { return reference::zeros(type); }
  template <class Op>
  Tensor operator()(const Op& op) const {
    if constexpr (requires { run(op, in, type, round); }) {
      if (round) {
        return run(op, in, type, round);
      }
    }
    return run(op, in, type);
  }
};

/// Rounding at random cannot be repeated, since the noise of a sum is the target's own; its mean is
/// the sum that is not rounded.
reference::RoundSum round_sums(NumberFormat partials, Rounding rounding) {
  if (partials == NumberFormat::f32 || rounding == Rounding::stochastic) {
    return {};
  }
  return [partials](double sum) {
    return static_cast<double>(rounded(static_cast<float>(sum), partials));
  };
}

/// A factor as a product has it. One that is uncertain, and so close to the middle of two numbers
/// that it may become either, may be off by their distance. That it seldom is does not help: where
/// the products of a sum cancel, one such factor is all there is to see, and there are many sums.
Estimate as_factor(const Estimate& factor, const graph::FactorRounding& rounding) {
  Estimate rounded{reference::rounded_factor(factor.value, rounding), factor.variance};
  for (std::size_t i = 0; i < rounded.variance.size(); ++i) {
    const double number = factor.value.data[i];
    const double room =
        kSureSign * std::sqrt(factor.variance[i]) + std::abs(number) * 0x1p-24;  // it is a float
    const bool either = rounding.rounded(static_cast<float>(number - room)) !=
                        rounding.rounded(static_cast<float>(number + room));
    const double unit = rounding.step() * (std::abs(number) + room);
    rounded.variance[i] += either ? unit * unit : 0;
  }
  return rounded;
}

}  // namespace

Estimate estimate(const graph::Graph& graph, graph::ValueId id,
                  std::span<const Estimate* const> operands) {
  const graph::Node& node = graph.node(id);
  const NumberFormat partials = graph::partials_of(graph, id);
  const Rounding rounding = graph.numerics.rounding;
  const reference::RoundSum round = round_sums(partials, rounding);
  std::vector<const Estimate*> used(operands.begin(), operands.end());
  std::array<Estimate, 2> factors;
  if (const graph::FactorRounding to = factor_rounding_of(graph, id); to.rounds()) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      factors[i] = as_factor(*operands[i], to);
      used[i] = &factors[i];
    }
  }
  std::vector<const Tensor*> in;
  for (const Estimate* operand : used) {
    in.push_back(&operand->value);
  }
  Estimate result;
  result.value = std::visit(ValueOf{in, node.type, round}, node.op);
  result.variance = std::visit(VarianceOf(used, result.value, sums_of(graph, id)), node.op);
  return result;
}

}  // namespace cosmic::target::check
