// Normalisation in three steps, so that each has a simple gradient and the expensive one, the pass
// over the image, is a plain affine map that can be recomputed wherever it is read:
//
//   statistics   = Statistics(x)                          [2, groups, channels]: mean, variance
//   coefficients = NormCoefficients(statistics, weight, bias)  [2, groups, channels]: scale, shift
//   y            = ChannelAffine(x, coefficients)
//
// The batch is cut into `groups` equal runs of images with statistics of their own: the three
// planes of a plane-major batch share weights but not statistics. Batch norm pools nothing else;
// group norm has one group per image and pools neighbouring channels. In evaluation the statistics
// are state.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// Whose elements statistics are of: of this process, or of all that run the program. The pass
/// synchronize-statistics puts the exchange in; alone, a process has its own.
enum class Over { process, all_processes };

std::string to_string(Over over);

/// Mean and biased variance per group and channel; `pooled_channels` neighbours share theirs.
struct Statistics {
  std::int64_t groups = 1;
  std::int64_t pooled_channels = 1;
  Over over = Over::process;

  static constexpr std::string_view name = "statistics";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::pixels;
  static constexpr auto division = always<Division::groups>;
  static constexpr auto images = images_at<Makes::numbers, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("groups", groups);
    visit("pooled_channels", pooled_channels);
    visit("over", over);
  }
  bool operator==(const Statistics&) const = default;

  static TensorType infer(const Statistics& op, Types in);
  static Adjoints gradient(const Statistics& op, Builder& g, const GradientArgs& args);
  static Cost cost(const Statistics&, Types in, const TensorType& out) {
    return {3.0 * static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// Operands: x, statistics, d statistics. dmean / n + dvariance * 2 (x - mean) / n, pooled.
struct StatisticsGradient {
  std::int64_t groups = 1;
  std::int64_t pooled_channels = 1;

  static constexpr std::string_view name = "statistics_gradient";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = images_at<Makes::image, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("groups", groups);
    visit("pooled_channels", pooled_channels);
  }
  bool operator==(const StatisticsGradient&) const = default;

  static TensorType infer(const StatisticsGradient& op, Types in);
  static Adjoints gradient(const StatisticsGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const StatisticsGradient&, Types in, const TensorType& out) {
    return elementwise_cost(2, in, out);
  }
};

/// What stands beside the mean in a tensor of statistics. Means of squares of equally many elements
/// can be averaged, variances cannot.
enum class SecondMoment { variance, mean_square };

std::string to_string(SecondMoment second);

/// Operand: statistics [2, G, C] with the other second moment. A variance that rounding would make
/// negative is 0.
struct RestateStatistics {
  SecondMoment as = SecondMoment::mean_square;

  static constexpr std::string_view name = "restate_statistics";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::whole>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("as", as);
  }
  bool operator==(const RestateStatistics&) const = default;

  static TensorType infer(const RestateStatistics& op, Types in);
  static Adjoints gradient(const RestateStatistics&, Builder&, const GradientArgs&) {
    return no_gradient("it is put in where gradients are there already");
  }
  static Cost cost(const RestateStatistics&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// Operands: statistics [2, G, C], weight [C], bias [C].
/// scale = weight / sqrt(variance + epsilon), shift = bias - mean * scale.
struct NormCoefficients {
  double epsilon = 1e-5;

  static constexpr std::string_view name = "norm_coefficients";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = weights_at<1, 2>;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::groups>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("epsilon", epsilon);
  }
  bool operator==(const NormCoefficients&) const = default;

  static TensorType infer(const NormCoefficients& op, Types in);
  static Adjoints gradient(const NormCoefficients& op, Builder& g, const GradientArgs& args);
  static Cost cost(const NormCoefficients&, Types in, const TensorType& out) {
    return elementwise_cost(4, in, out);
  }
};

/// Operands: statistics, weight, d coefficients. The gradient with respect to one of the operands
/// of NormCoefficients.
struct NormCoefficientsGradient {
  enum class Of { statistics, weight, bias };

  Of of = Of::statistics;
  double epsilon = 1e-5;

  static constexpr std::string_view name = "norm_coefficients_gradient";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::whole;
  static Role role(const NormCoefficientsGradient& op, Roles) {
    return op.of == Of::statistics ? Role::number : Role::weight_gradient;
  }
  static Division division(const NormCoefficientsGradient& op) {
    return op.of == Of::statistics ? Division::groups : Division::sums;
  }
  static constexpr auto is_weight = weights_at<1>;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("of", of);
    visit("epsilon", epsilon);
  }
  bool operator==(const NormCoefficientsGradient&) const = default;

  static TensorType infer(const NormCoefficientsGradient& op, Types in);
  static Adjoints gradient(const NormCoefficientsGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const NormCoefficientsGradient&, Types in, const TensorType& out) {
    return {8.0 * static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

std::string to_string(NormCoefficientsGradient::Of of);

/// Operands: x, coefficients [2, G, C]. x * scale + shift.
struct ChannelAffine {
  static constexpr std::string_view name = "channel_affine";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = image_unless_matrix<Makes::image>;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const ChannelAffine&) const = default;

  static TensorType infer(const ChannelAffine& op, Types in);
  static Adjoints gradient(const ChannelAffine& op, Builder& g, const GradientArgs& args);
  static Cost cost(const ChannelAffine&, Types in, const TensorType& out) {
    return elementwise_cost(2, in, out);
  }
};

/// Operands: dy, coefficients [2, G, C]. dy * scale: a ChannelAffine's gradient with respect to x.
struct ChannelScale {
  static constexpr std::string_view name = "channel_scale";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::pixel;
  static constexpr auto role = as_first_operand;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = image_unless_matrix<Makes::image>;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const ChannelScale&) const = default;

  static TensorType infer(const ChannelScale& op, Types in);
  static Adjoints gradient(const ChannelScale&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const ChannelScale&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// Operands: x, dy. [2, groups, channels]: sum of dy * x, sum of dy. A ChannelAffine's gradient
/// with respect to its coefficients.
struct ChannelProducts {
  std::int64_t groups = 1;

  static constexpr std::string_view name = "channel_products";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::pixels;
  static constexpr auto division = always<Division::groups>;
  static constexpr auto images = images_at<Makes::numbers, 0, 1>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("groups", groups);
  }
  bool operator==(const ChannelProducts&) const = default;

  static TensorType infer(const ChannelProducts& op, Types in);
  static Adjoints gradient(const ChannelProducts&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const ChannelProducts&, Types in, const TensorType& out) {
    return {3.0 * static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// Operands: running [C], statistics [2, G, C]. One momentum update per group, in group order, as
/// if the layer had been called once per plane; the variance is made unbiased with `count`
/// elements.
struct RunningUpdate {
  enum class Of { mean, variance };

  Of of = Of::mean;
  double momentum = 0.1;
  std::int64_t count = 1;

  static constexpr std::string_view name = "running_update";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("of", of);
    visit("momentum", momentum);
    visit("count", count);
  }
  bool operator==(const RunningUpdate&) const = default;

  static TensorType infer(const RunningUpdate& op, Types in);
  static Adjoints gradient(const RunningUpdate&, Builder&, const GradientArgs&) {
    return no_gradient("running statistics are observed, not learnt");
  }
  static Cost cost(const RunningUpdate&, Types in, const TensorType& out) {
    return elementwise_cost(3, in, out);
  }
};

std::string to_string(RunningUpdate::Of of);

/// x + by, for counters.
struct Increment {
  std::int64_t by = 1;

  static constexpr std::string_view name = "increment";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::first_operand;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("by", by);
  }
  bool operator==(const Increment&) const = default;

  static TensorType infer(const Increment& op, Types in);
  static Adjoints gradient(const Increment&, Builder&, const GradientArgs&) {
    return no_gradient("a counter has no gradient");
  }
  static Cost cost(const Increment&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

}  // namespace cosmic::graph
