#include "graph/ops/loss.hpp"

#include <limits>

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

void require_logits(std::string_view op, Types in) {
  const FeatureMap logits = feature_map(in[0], "the logits");
  const FeatureMap labels = feature_map(in[1], "the labels");
  COSMIC_REQUIRE(ShapeError,
                 in[1].dtype == DType::u8 && labels.channels == 1 && labels.batch == logits.batch &&
                     labels.pixels() == logits.pixels(),
                 op << " of logits " << in[0] << " with labels " << in[1]
                    << " (labels must be u8, one channel, same images)");
  COSMIC_REQUIRE(
      ShapeError,
      in[2].rank() == 2 && in[2].dim(1) == logits.channels && logits.batch % in[2].dim(0) == 0,
      op << " of logits " << in[0] << " with class weights " << in[2] << " (they must be [groups x "
         << logits.channels << "])");
}

void require_sums(std::string_view op, const TensorType& sums, std::int64_t groups) {
  COSMIC_REQUIRE(
      ShapeError,
      sums.rank() == 2 && sums.dim(1) == kPixelSums && groups >= 1 && sums.dim(0) % groups == 0,
      op << " of " << sums << " in " << groups << " groups (it needs [images x " << kPixelSums
         << "], images a multiple of the groups)");
}

}  // namespace

TensorType EvenClassWeights::infer(const EvenClassWeights& op, Types in) {
  COSMIC_REQUIRE(ShapeError,
                 in[0].dtype == DType::u8 && in[0].rank() >= 1 && op.groups >= 1 &&
                     in[0].dim(0) % op.groups == 0,
                 "even_class_weights of " << in[0] << " in " << op.groups
                                          << " groups (labels are u8, the batch splits evenly)");
  return {DType::f32, {op.groups, op.classes}};
}

double FixedClassWeights::weight(std::int64_t label) const {
  switch (label) {
    case 0:
      return background;
    case 1:
      return cosmic;
    case 2:
      return neutrino;
    default:
      return 1;
  }
}

TensorType FixedClassWeights::infer(const FixedClassWeights& op, Types) {
  return {DType::f32, {op.groups, op.classes}};
}

std::string to_string(Focal focal) {
  return focal == Focal::yes ? "yes" : "no";
}

TensorType SegmentationSums::infer(const SegmentationSums&, Types in) {
  require_logits(name, in);
  return {DType::f32, {in[0].dim(0), kPixelSums}};
}

Adjoints SegmentationSums::gradient(const SegmentationSums& op, Builder& g,
                                    const GradientArgs& args) {
  return {{g.add(SegmentationSumsGradient{op.focal}, {args.in[0], args.in[1], args.in[2], args.dy}),
           std::nullopt, std::nullopt},
          {}};
}

TensorType SegmentationSumsGradient::infer(const SegmentationSumsGradient&, Types in) {
  require_logits(name, in);
  require_sums(name, in[3], 1);
  return in[0];
}

TensorType WeightedMean::infer(const WeightedMean& op, Types in) {
  require_sums(name, in[0], op.groups);
  return {DType::f32, {}};
}

Adjoints WeightedMean::gradient(const WeightedMean& op, Builder& g, const GradientArgs& args) {
  return {{g.add(WeightedMeanGradient{op.groups}, {args.in[0], args.dy})}, {}};
}

TensorType WeightedMeanGradient::infer(const WeightedMeanGradient& op, Types in) {
  require_sums(name, in[0], op.groups);
  COSMIC_REQUIRE(ShapeError, in[1].shape.empty(),
                 "weighted_mean_gradient with dloss " << in[1] << " (the loss is a scalar)");
  return in[0];
}

TensorType SegmentationScores::infer(const SegmentationScores& op, Types in) {
  require_sums(name, in[0], op.planes);
  return {DType::f32, {(1 + op.planes) * kScores}};
}

void compute_scores(const SegmentationScores& op, std::int64_t images, const double* sums,
                    double* scores) {
  const std::int64_t batch = images / op.planes;
  const auto sum = [&](std::int64_t image, PixelSum which) {
    return sums[image * kPixelSums + static_cast<std::int64_t>(which)];
  };
  // The reference averages planes with seven 3s, so that a perfect score reads 0.9999999.
  constexpr double kThird = 0.3333333;
  double average[kScores] = {};
  double planes_with_foreground = 0;
  for (std::int64_t plane = 0; plane < op.planes; ++plane) {
    double correct = 0;
    double cosmic_iou = 0;
    double neutrino_iou = 0;
    double foreground_accuracy = 0;
    double images_with_foreground = 0;
    for (std::int64_t image = plane * batch; image < (plane + 1) * batch; ++image) {
      const auto iou = [&](PixelSum both, PixelSum either) {
        return sum(image, either) == 0 ? 1.0 : sum(image, both) / sum(image, either);
      };
      correct += sum(image, PixelSum::correct);
      cosmic_iou += iou(PixelSum::cosmic_intersection, PixelSum::cosmic_union);
      neutrino_iou += iou(PixelSum::neutrino_intersection, PixelSum::neutrino_union);
      // An image without foreground has no foreground accuracy; it must not poison the others'.
      if (sum(image, PixelSum::foreground) > 0) {
        foreground_accuracy +=
            sum(image, PixelSum::foreground_correct) / sum(image, PixelSum::foreground);
        images_with_foreground += 1;
      }
    }
    const auto n = static_cast<double>(batch);
    double* score = scores + (1 + plane) * kScores;
    score[0] = correct / (n * static_cast<double>(op.pixels));
    score[1] = cosmic_iou / n;
    score[2] = neutrino_iou / n;
    score[3] = images_with_foreground > 0 ? foreground_accuracy / images_with_foreground
                                          : std::numeric_limits<double>::quiet_NaN();
    score[4] = 0.5 * (score[1] + score[2]);
    for (const int i : {0, 1, 2, 4}) {
      average[i] += score[i] * (op.planes == 3 ? kThird : 1.0 / static_cast<double>(op.planes));
    }
    if (images_with_foreground > 0) {
      average[3] += score[3];
      planes_with_foreground += 1;
    }
  }
  average[3] = planes_with_foreground == 3  ? average[3] * kThird
               : planes_with_foreground > 0 ? average[3] / planes_with_foreground
                                            : std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t i = 0; i < kScores; ++i) {
    scores[i] = average[i];
  }
}

TensorType NegativeLogLikelihood::infer(const NegativeLogLikelihood&, Types in) {
  COSMIC_REQUIRE(
      ShapeError,
      in[0].rank() == 2 && in[1].dtype == DType::u8 && in[1].shape == Shape{in[0].dim(0)},
      "negative_log_likelihood of " << in[0] << " with labels " << in[1]
                                    << " (it needs [N x classes] and u8 [N])");
  return {DType::f32, {}};
}

Adjoints NegativeLogLikelihood::gradient(const NegativeLogLikelihood&, Builder& g,
                                         const GradientArgs& args) {
  return {{g.add(NegativeLogLikelihoodGradient{g.type(args.in[0]).dim(1)}, {args.in[1], args.dy}),
           std::nullopt},
          {}};
}

TensorType NegativeLogLikelihoodGradient::infer(const NegativeLogLikelihoodGradient& op, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0].rank() == 1 && in[1].shape.empty(),
                 "negative_log_likelihood_gradient of labels " << in[0] << " and dloss " << in[1]
                                                               << " (it needs [N] and a scalar)");
  return {DType::f32, {in[0].dim(0), op.classes}};
}

}  // namespace cosmic::graph
