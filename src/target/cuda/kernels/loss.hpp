// Losses and metrics. A label that is no class makes the loss no number, which keeps every state as
// it was; nothing is read outside its tensor.
#pragma once

#include "target/cuda/kernels/segmentation.hpp"

namespace cosmic::target::cuda {

inline constexpr int kScoresPerPlane = 5;

/// Output: a group and some neighbouring classes; the weight of each is 0.3333 / (1 + how often the
/// label is that class). Terms: some neighbouring labels.
struct EvenClassWeightsBody {
  static constexpr int kSums = 4;  ///< classes
  static constexpr int kLabels = 8;

  struct Context {
    std::int64_t first;
    int label;  ///< the first of them
  };

  const std::uint8_t* labels;
  float* weights;
  std::int64_t classes;
  std::int64_t labels_per_group;

  COSMIC_DEVICE std::int64_t outputs_per_group() const { return (classes + kSums - 1) / kSums; }
  COSMIC_DEVICE std::int64_t terms() const { return (labels_per_group + kLabels - 1) / kLabels; }

  COSMIC_DEVICE Context at(std::int64_t output) const {
    const Division group = divide(output, outputs_per_group());
    return {group.whole * labels_per_group, static_cast<int>(group.rest) * kSums};
  }
  COSMIC_DEVICE void add(const Context& context, std::int64_t term, float* sums) const {
    if (labels_per_group % kLabels == 0) {  // then all are on boundaries
      const auto some =
          *reinterpret_cast<const Words<kLabels / 4>*>(labels + context.first + term * kLabels);
      COSMIC_UNROLLED
      for (int i = 0; i < kLabels; ++i) {
        count(static_cast<int>(some.word[i / 4] >> (i % 4 * 8) & 0xff), context.label, sums);
      }
      return;
    }
    const std::int64_t end = term * kLabels + kLabels;
    for (std::int64_t i = term * kLabels; i < end && i < labels_per_group; ++i) {
      count(labels[context.first + i], context.label, sums);
    }
  }
  COSMIC_DEVICE void finish(std::int64_t output, const double* sums) const {
    const Division group = divide(output, outputs_per_group());
    for (int k = 0; k < kSums && group.rest * kSums + k < classes; ++k) {
      weights[group.whole * classes + group.rest * kSums + k] =
          static_cast<float>(0.3333 / (sums[k] + 1));
    }
  }

 private:
  COSMIC_DEVICE static void count(int label, int first, float* sums) {
    COSMIC_UNROLLED
    for (int k = 0; k < kSums; ++k) {
      sums[k] += label == first + k ? 1.0F : 0.0F;
    }
  }
};

/// i: a group and a class.
struct FixedClassWeightsBody {
  static constexpr int kNamed = 3;

  float* weights;
  std::int64_t classes;
  float named[kNamed];  ///< background, cosmic, neutrino; others weigh 1

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t label = divide(i, classes).rest;
    weights[i] = label < kNamed ? named[label] : 1.0F;
  }
};

/// Output: an image of the batch. Terms: its pixels.
struct SegmentationSumsBody {
  static constexpr int kSums = kSumsPerImage;
  using Context = std::int64_t;

  Segmentation of;
  float* sums_out;

  COSMIC_DEVICE Context at(std::int64_t image) const { return image; }
  COSMIC_DEVICE void add(const Context& image, std::int64_t term, float* sums) const {
    const Division slice =
        of.scores.depth == 1 ? Division{0, term} : divide(term, of.scores.pixels());
    const SegmentationPixel pixel = of.pixel_at(image * of.scores.depth + slice.whole, slice.rest);
    const auto count = [](bool counts) { return counts ? 1.0F : 0.0F; };
    const bool correct = pixel.predicted == pixel.label;
    sums[kWeightedLoss] -= pixel.weight * pixel.log_label;
    sums[kWeight] += pixel.weight;
    sums[kCorrect] += count(correct);
    sums[kForeground] += count(pixel.label != 0);
    sums[kForegroundCorrect] += count(pixel.label != 0 && correct);
    sums[kCosmicIntersection] += count(pixel.predicted == 1 && pixel.label == 1);
    sums[kCosmicUnion] += count(pixel.predicted == 1 || pixel.label == 1);
    sums[kNeutrinoIntersection] += count(pixel.predicted == 2 && pixel.label == 2);
    sums[kNeutrinoUnion] += count(pixel.predicted == 2 || pixel.label == 2);
  }
  COSMIC_DEVICE void finish(std::int64_t image, const double* sums) const {
    for (int k = 0; k < kSumsPerImage; ++k) {
      sums_out[image * kSumsPerImage + k] = static_cast<float>(sums[k]);
    }
  }
};

/// The gradient of the weighted loss with respect to the scores, all classes of a pixel at once. i:
/// a pixel of an image.
struct SegmentationGradientBody {
  Segmentation of;
  Image gradient;  ///< blocked

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, of.scores.pixels());
    const int classes = of.scores.channels;
    if (of.is_narrow() && classes <= static_cast<int>(gradient.lanes)) {
      float of_class[kNarrowBlock];
      const SegmentationPixel known = of.narrow_pixel_at(at.whole, at.rest, of_class);
      float numbers[kBlock] = {};
      COSMIC_UNROLLED
      for (int c = 0; c < kNarrowBlock; ++c) {
        if (c < classes) {
          numbers[c] = of.gradient_of(known, at.whole, of_class[c], c);
        }
      }
      write_vector(gradient, at.whole, 0, at.rest, numbers);
      return;
    }
    const SegmentationPixel known = of.pixel_at(at.whole, at.rest);
    for (int c = 0; c < gradient.blocks() * gradient.lanes; ++c) {
      gradient.store(at.whole, c, at.rest,
                     c < classes ? of.gradient_at(known, at.whole, at.rest, c) : 0.0F);
    }
  }
};

/// Sums over the images of a group.
struct GroupSums {
  const float* sums;
  std::int64_t images_per_group;

  COSMIC_DEVICE double of(std::int64_t group, int which) const {
    double sum = 0;
    for (std::int64_t image = group * images_per_group; image < (group + 1) * images_per_group;
         ++image) {
      sum += sums[image * kSumsPerImage + which];
    }
    return sum;
  }
};

/// One thread: these are a few numbers.
struct WeightedMeanBody {
  GroupSums groups_of;
  float* loss;
  std::int64_t groups;

  COSMIC_DEVICE void operator()(std::int64_t) const {
    double total = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      const double weight = groups_of.of(group, kWeight);
      total += weight != 0 ? groups_of.of(group, kWeightedLoss) / weight : 0;
    }
    *loss = static_cast<float>(total);
  }
};

/// i: an element of the sums.
struct WeightedMeanGradientBody {
  GroupSums groups_of;
  const float* dloss;
  float* dsums;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, kSumsPerImage);
    double gradient = 0;
    if (at.rest == kWeightedLoss) {
      const double weight = groups_of.of(quotient(at.whole, groups_of.images_per_group), kWeight);
      gradient = weight != 0 ? *dloss / weight : 0;
    }
    dsums[i] = static_cast<float>(gradient);
  }
};

/// One thread: graph::compute_scores, for the device.
struct SegmentationScoresBody {
  const float* sums;
  float* scores;  ///< [1 + planes, kScoresPerPlane]
  std::int64_t planes;
  std::int64_t batch;   ///< images per plane
  std::int64_t pixels;  ///< per image

  COSMIC_DEVICE double sum(std::int64_t image, int which) const {
    return sums[image * kSumsPerImage + which];
  }
  COSMIC_DEVICE double iou(std::int64_t image, int both, int either) const {
    return sum(image, either) == 0 ? 1.0 : sum(image, both) / sum(image, either);
  }

  COSMIC_DEVICE void operator()(std::int64_t) const {
    constexpr double kThird = 0.3333333;  // as the reference averages planes
    const double share = planes == 3 ? kThird : 1.0 / static_cast<double>(planes);
    double average[kScoresPerPlane] = {};
    std::int64_t planes_with_foreground = 0;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      double correct = 0;
      double cosmic_iou = 0;
      double neutrino_iou = 0;
      double foreground_accuracy = 0;
      std::int64_t images_with_foreground = 0;
      for (std::int64_t image = plane * batch; image < (plane + 1) * batch; ++image) {
        correct += sum(image, kCorrect);
        cosmic_iou += iou(image, kCosmicIntersection, kCosmicUnion);
        neutrino_iou += iou(image, kNeutrinoIntersection, kNeutrinoUnion);
        if (sum(image, kForeground) > 0) {
          foreground_accuracy += sum(image, kForegroundCorrect) / sum(image, kForeground);
          ++images_with_foreground;
        }
      }
      const auto n = static_cast<double>(batch);
      double score[kScoresPerPlane];
      score[0] = correct / (n * static_cast<double>(pixels));
      score[1] = cosmic_iou / n;
      score[2] = neutrino_iou / n;
      score[3] = images_with_foreground > 0
                     ? foreground_accuracy / static_cast<double>(images_with_foreground)
                     : nan("");
      score[4] = 0.5 * (score[1] + score[2]);
      for (int k = 0; k < kScoresPerPlane; ++k) {
        scores[(1 + plane) * kScoresPerPlane + k] = static_cast<float>(score[k]);
        average[k] += k == 3 ? 0 : score[k] * share;
      }
      if (images_with_foreground > 0) {
        average[3] += score[3];
        ++planes_with_foreground;
      }
    }
    average[3] = planes_with_foreground == 3 ? average[3] * kThird
                 : planes_with_foreground > 0
                     ? average[3] / static_cast<double>(planes_with_foreground)
                     : nan("");
    for (int k = 0; k < kScoresPerPlane; ++k) {
      scores[k] = static_cast<float>(average[k]);
    }
  }
};

/// Output: the one loss. Terms: images.
struct NegativeLogLikelihoodBody {
  static constexpr int kSums = 1;
  using Context = int;

  const float* log_probabilities;
  const std::uint8_t* labels;
  float* loss;
  std::int64_t images;
  std::int64_t classes;

  COSMIC_DEVICE Context at(std::int64_t) const { return 0; }
  COSMIC_DEVICE void add(const Context&, std::int64_t image, float* sums) const {
    const int label = labels[image];
    sums[0] -= label < classes ? log_probabilities[image * classes + label] : nanf("");
  }
  COSMIC_DEVICE void finish(std::int64_t, const double* sums) const {
    *loss = static_cast<float>(sums[0] / static_cast<double>(images));
  }
};

/// i: an image and a class.
struct NegativeLogLikelihoodGradientBody {
  const std::uint8_t* labels;
  const float* dloss;
  float* gradient;
  std::int64_t images;
  std::int64_t classes;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, classes);
    gradient[i] = at.rest == labels[at.whole] ? -*dloss / static_cast<float>(images) : 0.0F;
  }
};

}  // namespace cosmic::target::cuda
