#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

using graph::FeatureMap;
using graph::kPixelSums;
using graph::PixelSum;

std::int64_t label_at(const Tensor& labels, std::int64_t i, std::int64_t classes) {
  const auto label = static_cast<std::int64_t>(labels.data[i]);
  COSMIC_REQUIRE(DataError, label >= 0 && label < classes,
                 "a label is " << label << " (there are " << classes << " classes)");
  return label;
}

/// All that is known about one pixel: what loss, metrics and gradient have in common.
struct Pixel {
  std::int64_t image = 0;
  Position position;
  std::int64_t label = 0;
  std::int64_t predicted = 0;
  double weight = 0;
  std::vector<double> log_probability;  ///< per class
};

/// Operands as those of SegmentationSums.
template <class Visit>
void for_each_pixel(graph::Focal focal, Operands in, const Visit& visit) {
  const Tensor& logits = *in[0];
  const Tensor& labels = *in[1];
  const Tensor& class_weights = *in[2];
  const FeatureMap map = graph::feature_map(logits.type, "the logits");
  const FeatureMap label_map = graph::feature_map(labels.type, "the labels");
  const std::int64_t classes = map.channels;
  const std::int64_t images_per_group = map.batch / class_weights.type.dim(0);
  for (std::int64_t image = 0; image < map.batch; ++image) {
    for_each_position(map, [&](const Position& position) {
      Pixel pixel;
      pixel.image = image;
      pixel.position = position;
      pixel.label = label_at(labels, element(label_map, image, 0, position), classes);

      const auto logit = [&](std::int64_t c) {
        return logits.data[element(map, image, c, position)];
      };
      for (std::int64_t c = 1; c < classes; ++c) {
        if (logit(c) > logit(pixel.predicted)) {
          pixel.predicted = c;
        }
      }
      const double largest = logit(pixel.predicted);
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) {
        sum += std::exp(logit(c) - largest);
      }
      for (std::int64_t c = 0; c < classes; ++c) {
        pixel.log_probability.push_back(logit(c) - largest - std::log(sum));
      }

      pixel.weight = class_weights.data[image / images_per_group * classes + pixel.label];
      if (focal == graph::Focal::yes) {
        const double miss = 1 - std::exp(pixel.log_probability[pixel.label]);
        pixel.weight *= miss * miss / 3;
      }
      visit(pixel);
    });
  }
}

/// Column `which` of image `image` in a SegmentationSums.
std::int64_t sum_at(std::int64_t image, PixelSum which) {
  return image * kPixelSums + static_cast<std::int64_t>(which);
}

double group_sum(const Tensor& sums, std::int64_t group, std::int64_t images, PixelSum which) {
  double sum = 0;
  for (std::int64_t image = group * images; image < (group + 1) * images; ++image) {
    sum += sums.data[sum_at(image, which)];
  }
  return sum;
}

}  // namespace

Tensor run(const graph::EvenClassWeights& op, Operands in, const graph::TensorType& out) {
  const Tensor& labels = *in[0];
  const std::int64_t labels_per_group = labels.type.elements() / op.groups;
  Tensor counts = zeros(out);
  for (std::int64_t i = 0; i < labels.type.elements(); ++i) {
    const std::int64_t group = i / labels_per_group;
    counts.data[group * op.classes + label_at(labels, i, op.classes)] += 1;
  }
  Tensor weights = zeros(out);
  for (std::size_t i = 0; i < weights.data.size(); ++i) {
    weights.data[i] = 0.3333 / (counts.data[i] + 1);
  }
  return weights;
}

Tensor run(const graph::FixedClassWeights& op, Operands, const graph::TensorType& out) {
  Tensor weights = zeros(out);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    weights.data[i] = op.weight(i % op.classes);
  }
  return weights;
}

Tensor run(const graph::SegmentationSums& op, Operands in, const graph::TensorType& out) {
  Tensor sums = zeros(out);
  for_each_pixel(op.focal, in, [&](const Pixel& pixel) {
    const auto add = [&](PixelSum which, double amount) {
      sums.data[sum_at(pixel.image, which)] += amount;
    };
    const auto count = [&](PixelSum which, bool counts) { add(which, counts ? 1 : 0); };
    add(PixelSum::weighted_loss, -pixel.weight * pixel.log_probability[pixel.label]);
    add(PixelSum::weight, pixel.weight);
    const bool correct = pixel.predicted == pixel.label;
    count(PixelSum::correct, correct);
    count(PixelSum::foreground, pixel.label != 0);
    count(PixelSum::foreground_correct, pixel.label != 0 && correct);
    count(PixelSum::cosmic_intersection, pixel.predicted == 1 && pixel.label == 1);
    count(PixelSum::cosmic_union, pixel.predicted == 1 || pixel.label == 1);
    count(PixelSum::neutrino_intersection, pixel.predicted == 2 && pixel.label == 2);
    count(PixelSum::neutrino_union, pixel.predicted == 2 || pixel.label == 2);
  });
  return sums;
}

Tensor run(const graph::SegmentationSumsGradient& op, Operands in, const graph::TensorType& out) {
  const Tensor& dsums = *in[3];
  const FeatureMap map = graph::feature_map(out, "the result");
  Tensor dlogits = zeros(out);
  for_each_pixel(op.focal, in.first(3), [&](const Pixel& pixel) {
    const double dloss = dsums.data[sum_at(pixel.image, PixelSum::weighted_loss)];
    for (std::int64_t c = 0; c < map.channels; ++c) {
      const double softmax = std::exp(pixel.log_probability[c]);
      const double onehot = c == pixel.label ? 1 : 0;
      dlogits.data[element(map, pixel.image, c, pixel.position)] =
          dloss * pixel.weight * (softmax - onehot);
    }
  });
  return dlogits;
}

Tensor run(const graph::WeightedMean& op, Operands in, const graph::TensorType& out) {
  const std::int64_t images = in[0]->type.dim(0) / op.groups;
  Tensor loss = zeros(out);
  for (std::int64_t group = 0; group < op.groups; ++group) {
    const double weight = group_sum(*in[0], group, images, PixelSum::weight);
    if (weight != 0) {
      loss.data[0] += group_sum(*in[0], group, images, PixelSum::weighted_loss) / weight;
    }
  }
  return loss;
}

Tensor run(const graph::WeightedMeanGradient& op, Operands in, const graph::TensorType& out) {
  const std::int64_t images = out.dim(0) / op.groups;
  const double dloss = in[1]->data[0];
  Tensor dsums = zeros(out);
  for (std::int64_t image = 0; image < out.dim(0); ++image) {
    const double weight = group_sum(*in[0], image / images, images, PixelSum::weight);
    if (weight != 0) {
      dsums.data[sum_at(image, PixelSum::weighted_loss)] = dloss / weight;
    }
  }
  return dsums;
}

Tensor run(const graph::SegmentationScores& op, Operands in, const graph::TensorType& out) {
  Tensor scores = zeros(out);
  graph::compute_scores(op, in[0]->type.dim(0), in[0]->data.data(), scores.data.data());
  return scores;
}

Tensor run(const graph::NegativeLogLikelihood&, Operands in, const graph::TensorType& out) {
  const std::int64_t images = in[0]->type.dim(0);
  const std::int64_t classes = in[0]->type.dim(1);
  Tensor loss = zeros(out);
  for (std::int64_t image = 0; image < images; ++image) {
    const std::int64_t label = label_at(*in[1], image, classes);
    loss.data[0] -= in[0]->data[image * classes + label] / static_cast<double>(images);
  }
  return loss;
}

Tensor run(const graph::NegativeLogLikelihoodGradient& op, Operands in,
           const graph::TensorType& out) {
  const std::int64_t images = out.dim(0);
  Tensor gradient = zeros(out);
  for (std::int64_t image = 0; image < images; ++image) {
    const std::int64_t label = label_at(*in[0], image, op.classes);
    gradient.data[image * op.classes + label] = -in[1]->data[0] / static_cast<double>(images);
  }
  return gradient;
}

}  // namespace cosmic::target::reference
