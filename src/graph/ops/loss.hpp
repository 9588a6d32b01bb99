// Losses and metrics.
//
// Segmentation is one pass over the logits that adds up, per image, everything the loss and the
// metrics need (SegmentationSums); what follows works on those few numbers.
#pragma once

#include "graph/op_definition.hpp"

namespace cosmic::graph {

/// Columns of SegmentationSums, one row per image.
enum class PixelSum {
  weighted_loss,  ///< sum of w * cross entropy
  weight,         ///< sum of w
  correct,        ///< pixels whose largest logit is the label's (ties go to the lowest class)
  foreground,     ///< pixels whose label is not 0
  foreground_correct,
  cosmic_intersection,    ///< predicted and labelled 1
  cosmic_union,           ///< predicted or labelled 1
  neutrino_intersection,  ///< the same for 2
  neutrino_union,
};
inline constexpr std::int64_t kPixelSums = 9;

/// Operand: labels u8 [N, 1, ...]. [groups, classes]: 0.3333 / (n_c + 1), n_c the pixels of class c
/// in the group: rare classes weigh more, absent ones do no harm.
struct EvenClassWeights {
  std::int64_t groups = 3;
  std::int64_t classes = 3;

  static constexpr std::string_view name = "even_class_weights";
  static constexpr Arity arity{1};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::groups>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("groups", groups);
    visit("classes", classes);
  }
  bool operator==(const EvenClassWeights&) const = default;

  static TensorType infer(const EvenClassWeights& op, Types in);
  static Adjoints gradient(const EvenClassWeights&, Builder&, const GradientArgs&) {
    return no_gradient("class weights are constants of the batch");
  }
  static Cost cost(const EvenClassWeights&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// The same weights for every batch and group: [groups, classes]. Classes beyond the neutrino
/// weigh 1.
struct FixedClassWeights {
  double background = 1;
  double cosmic = 1;
  double neutrino = 1;
  std::int64_t groups = 3;
  std::int64_t classes = 3;

  static constexpr std::string_view name = "fixed_class_weights";
  static constexpr Arity arity{0};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::elements>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("background", background);
    visit("cosmic", cosmic);
    visit("neutrino", neutrino);
    visit("groups", groups);
    visit("classes", classes);
  }
  bool operator==(const FixedClassWeights&) const = default;

  double weight(std::int64_t label) const;

  static TensorType infer(const FixedClassWeights& op, Types in);
  static Adjoints gradient(const FixedClassWeights&, Builder&, const GradientArgs&) { return {}; }
  static Cost cost(const FixedClassWeights&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

enum class Focal { no, yes };

std::string to_string(Focal focal);

/// Operands: logits [N, classes, ...], labels u8 [N, 1, ...], class weights [groups, classes].
/// [N, kPixelSums]. w = class weight of the label, times (1 - p_label)^2 / 3 when focal. Weights
/// carry no gradient.
struct SegmentationSums {
  Focal focal = Focal::yes;

  static constexpr std::string_view name = "segmentation_sums";
  static constexpr Arity arity{3};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::operand;
  static constexpr Reduction reduction = Reduction::pixels;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::numbers, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("focal", focal);
  }
  bool operator==(const SegmentationSums&) const = default;

  static TensorType infer(const SegmentationSums& op, Types in);
  static Adjoints gradient(const SegmentationSums& op, Builder& g, const GradientArgs& args);
  static Cost cost(const SegmentationSums&, Types in, const TensorType& out) {
    return {10.0 * static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// Operands: logits, labels, class weights, d sums. dsums[n, weighted_loss] * w * (softmax -
/// onehot).
struct SegmentationSumsGradient {
  Focal focal = Focal::yes;

  static constexpr std::string_view name = "segmentation_sums_gradient";
  static constexpr Arity arity{4};
  static constexpr Locality locality = Locality::row;
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = images_at<Makes::image, 0>;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("focal", focal);
  }
  bool operator==(const SegmentationSumsGradient&) const = default;

  static TensorType infer(const SegmentationSumsGradient& op, Types in);
  static Adjoints gradient(const SegmentationSumsGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const SegmentationSumsGradient&, Types in, const TensorType& out) {
    return elementwise_cost(10, in, out);
  }
};

/// Operand: SegmentationSums. Sum over groups of (weighted loss of the group / weight of the
/// group); a group whose weights are all zero has no loss.
struct WeightedMean {
  std::int64_t groups = 3;

  static constexpr std::string_view name = "weighted_mean";
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
    visit("groups", groups);
  }
  bool operator==(const WeightedMean&) const = default;

  static TensorType infer(const WeightedMean& op, Types in);
  static Adjoints gradient(const WeightedMean& op, Builder& g, const GradientArgs& args);
  static Cost cost(const WeightedMean&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// Operands: SegmentationSums, dloss (scalar). Only the weighted_loss column is not zero.
struct WeightedMeanGradient {
  std::int64_t groups = 3;

  static constexpr std::string_view name = "weighted_mean_gradient";
  static constexpr Arity arity{2};
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
    visit("groups", groups);
  }
  bool operator==(const WeightedMeanGradient&) const = default;

  static TensorType infer(const WeightedMeanGradient& op, Types in);
  static Adjoints gradient(const WeightedMeanGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const WeightedMeanGradient&, Types in, const TensorType& out) {
    return elementwise_cost(1, in, out);
  }
};

/// The five scores of one plane, in the order the reference writes them.
inline constexpr std::int64_t kScores = 5;  // total accuracy, cosmic IoU, neutrino IoU,
                                            // foreground accuracy, mean IoU

/// Operand: SegmentationSums, plane-major. [(1 + planes) * kScores]: the average, then each plane.
struct SegmentationScores {
  std::int64_t planes = 3;
  std::int64_t pixels = 1;  ///< per image

  static constexpr std::string_view name = "segmentation_scores";
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
    visit("planes", planes);
    visit("pixels", pixels);
  }
  bool operator==(const SegmentationScores&) const = default;

  static TensorType infer(const SegmentationScores& op, Types in);
  static Adjoints gradient(const SegmentationScores&, Builder&, const GradientArgs&) {
    return no_gradient("metrics are counted, not learnt from");
  }
  static Cost cost(const SegmentationScores&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].elements()), traffic(in, out)};
  }
};

/// The scores from the sums; `sums` and `scores` are row-major as in the ops. In double, for every
/// target: these are a few numbers.
void compute_scores(const SegmentationScores& op, std::int64_t images, const double* sums,
                    double* scores);

/// Operands: log probabilities [N, C], labels u8 [N]. Mean over the batch of -log p[label].
struct NegativeLogLikelihood {
  static constexpr std::string_view name = "negative_log_likelihood";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::number>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::operand;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::sums>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&&) const {}
  bool operator==(const NegativeLogLikelihood&) const = default;

  static TensorType infer(const NegativeLogLikelihood& op, Types in);
  static Adjoints gradient(const NegativeLogLikelihood& op, Builder& g, const GradientArgs& args);
  static Cost cost(const NegativeLogLikelihood&, Types in, const TensorType& out) {
    return {static_cast<double>(in[0].dim(0)), traffic(in, out)};
  }
};

/// Operands: labels u8 [N], dloss (scalar). -dloss / N at the labels, zero elsewhere.
struct NegativeLogLikelihoodGradient {
  std::int64_t classes = 10;

  static constexpr std::string_view name = "negative_log_likelihood_gradient";
  static constexpr Arity arity{2};
  static constexpr Locality locality = Locality::whole;
  static constexpr auto role = always<Role::gradient>;
  static constexpr auto is_weight = no_weights;
  static constexpr Overwrite overwrite = Overwrite::never;
  static constexpr Exact exact = Exact::no;
  static constexpr Reduction reduction = Reduction::none;
  static constexpr auto division = always<Division::images>;
  static constexpr auto images = no_images;
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    visit("classes", classes);
  }
  bool operator==(const NegativeLogLikelihoodGradient&) const = default;

  static TensorType infer(const NegativeLogLikelihoodGradient& op, Types in);
  static Adjoints gradient(const NegativeLogLikelihoodGradient&, Builder&, const GradientArgs&) {
    return no_gradient("second derivatives are not part of a training step");
  }
  static Cost cost(const NegativeLogLikelihoodGradient&, Types in, const TensorType& out) {
    return {0, traffic(in, out)};
  }
};

}  // namespace cosmic::graph
