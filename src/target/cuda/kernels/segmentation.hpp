// What the loss of a segmentation, its metrics and its gradient know about a pixel.
#pragma once

#include "target/cuda/kernels/image.hpp"

namespace cosmic::target::cuda {

/// Columns of graph::SegmentationSums; lower.cpp checks that they are the same.
enum : int {
  kWeightedLoss,
  kWeight,
  kCorrect,
  kForeground,
  kForegroundCorrect,
  kCosmicIntersection,
  kCosmicUnion,
  kNeutrinoIntersection,
  kNeutrinoUnion,
  kSumsPerImage,
};

struct SegmentationPixel {
  int label;
  int predicted;
  float largest;    ///< score
  float log_sum;    ///< log probability of a class is its score - largest - log_sum
  float log_label;  ///< log probability of the label
  float weight;
};

/// A label that is no class makes the loss no number, which keeps every state as it was; nothing is
/// read outside its tensor.
struct Segmentation {
  Image scores;  ///< a channel per class
  const std::uint8_t* labels = nullptr;
  const float* class_weights = nullptr;  ///< [groups, classes]
  const float* dsums = nullptr;          ///< [batch, kSumsPerImage], for the gradient
  std::int64_t events_per_group = 1;     ///< images of the batch, whatever their depth
  bool focal = false;

  COSMIC_DEVICE std::int64_t event_of(std::int64_t image) const {
    return scores.depth == 1 ? image : quotient(image, scores.depth);
  }

  /// Are the scores of a pixel one load?
  COSMIC_DEVICE bool is_narrow() const {
    return scores.lanes == kNarrowBlock && scores.format == Format::f32;
  }

  COSMIC_DEVICE SegmentationPixel pixel_at(std::int64_t image, std::int64_t pixel) const {
    if (is_narrow()) {
      float of_class[kNarrowBlock];
      return narrow_pixel_at(image, pixel, of_class);
    }
    const int classes = scores.channels;
    SegmentationPixel known{};
    known.label = labels[image * scores.pixels() + pixel];
    known.largest = scores.load(image, 0, pixel);
    for (int c = 1; c < classes; ++c) {
      const float score = scores.load(image, c, pixel);
      if (score > known.largest) {
        known.largest = score;
        known.predicted = c;
      }
    }
    float others = 0;  // the largest itself is exp(0)
    for (int c = 0; c < classes; ++c) {
      others += c == known.predicted ? 0.0F : expf(scores.load(image, c, pixel) - known.largest);
    }
    known.log_sum = log1pf(others);
    weigh(image, known.label < classes ? scores.load(image, known.label, pixel) : 0.0F, known);
    return known;
  }

  /// The same with one load, and the scores of the classes.
  COSMIC_DEVICE SegmentationPixel narrow_pixel_at(std::int64_t image, std::int64_t pixel,
                                                  float* of_class) const {
    const int classes = scores.channels;
    const std::int64_t at = image * scores.pixels() + pixel;
    read_numbers<kNarrowBlock>(scores.base, Format::f32, at * kNarrowBlock, of_class);
    SegmentationPixel known{};
    known.label = labels[at];
    known.largest = of_class[0];
    COSMIC_UNROLLED
    for (int c = 1; c < kNarrowBlock; ++c) {
      if (c < classes && of_class[c] > known.largest) {
        known.largest = of_class[c];
        known.predicted = c;
      }
    }
    float others = 0;
    float of_label = 0;
    COSMIC_UNROLLED
    for (int c = 0; c < kNarrowBlock; ++c) {
      if (c < classes) {
        others += c == known.predicted ? 0.0F : expf(of_class[c] - known.largest);
        of_label = c == known.label ? of_class[c] : of_label;
      }
    }
    known.log_sum = log1pf(others);
    weigh(image, of_label, known);
    return known;
  }

  /// With respect to the score of a class.
  COSMIC_DEVICE float gradient_at(const SegmentationPixel& known, std::int64_t image,
                                  std::int64_t pixel, int channel) const {
    return gradient_of(known, image, scores.load(image, channel, pixel), channel);
  }
  COSMIC_DEVICE float gradient_of(const SegmentationPixel& known, std::int64_t image, float score,
                                  int channel) const {
    const float dloss = dsums[event_of(image) * kSumsPerImage + kWeightedLoss] * known.weight;
    const float log_probability = score - known.largest - known.log_sum;
    // Of the label, 1 less, without losing the digits of a probability near 1.
    return dloss * (channel == known.label ? expm1f(log_probability) : expf(log_probability));
  }

 private:
  /// The log probability of the label, whose score this is, and the weight of the pixel.
  COSMIC_DEVICE void weigh(std::int64_t image, float of_label, SegmentationPixel& known) const {
    const int classes = scores.channels;
    if (known.label >= classes) {
      known.log_label = nanf("");
      known.weight = nanf("");
      return;
    }
    known.log_label = of_label - known.largest - known.log_sum;
    known.weight =
        class_weights[quotient(event_of(image), events_per_group) * classes + known.label];
    if (focal) {
      const float miss = -expm1f(known.log_label);
      known.weight *= miss * miss / 3;
    }
  }
};

}  // namespace cosmic::target::cuda
