// The numbers of a normalisation, and its affine map on matrices. Numbers per channel are
// [2, groups, channels].
#pragma once

#include "target/cuda/kernels/narrow.hpp"
#include "target/cuda/kernels/pointwise.hpp"

namespace cosmic::target::cuda {

/// Where the numbers of an element's channel are.
struct PerChannel {
  std::int64_t images_per_group;
  std::int64_t groups;
  std::int64_t channels;
  std::int64_t pixels;

  COSMIC_DEVICE std::int64_t first(std::int64_t element) const {
    const Division plane = divide(quotient(element, pixels), channels);
    return quotient(plane.whole, images_per_group) * channels + plane.rest;
  }
  COSMIC_DEVICE std::int64_t second(std::int64_t first) const { return groups * channels + first; }
};

/// i: a group and a channel.
struct RestateStatisticsBody {
  const float* statistics;
  float* restated;
  std::int64_t half;  ///< groups * channels
  bool as_variance;   ///< or as the mean of squares

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double mean = statistics[i];
    const double second = statistics[half + i];
    const double variance = second - mean * mean;
    restated[i] = statistics[i];
    // Not the larger of the two: what is no number must stay none.
    restated[half + i] =
        static_cast<float>(as_variance ? (variance < 0 ? 0.0 : variance) : second + mean * mean);
  }
};

/// i: a group and a channel.
struct NormCoefficientsBody {
  const float* statistics;
  const float* weight;
  const float* bias;
  Format weight_format;  ///< that it is rounded to
  Format bias_format;    ///< likewise
  float* coefficients;
  std::int64_t channels;
  std::int64_t half;  ///< groups * channels
  double epsilon;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t channel = divide(i, channels).rest;
    const double scale =
        rounded_to(weight[channel], weight_format) / sqrt(statistics[half + i] + epsilon);
    const double b = rounded_to(bias[channel], bias_format);
    coefficients[i] = static_cast<float>(scale);
    coefficients[half + i] = static_cast<float>(b - statistics[i] * scale);
  }
};

/// What the gradients of NormCoefficients have in common: with r = 1 / sqrt(variance + epsilon),
/// scale = weight r and shift = bias - mean weight r.
struct CoefficientGradients {
  const float* statistics;
  const float* dcoefficients;
  std::int64_t half;
  double epsilon;

  COSMIC_DEVICE double r(std::int64_t i) const { return 1 / sqrt(statistics[half + i] + epsilon); }
  COSMIC_DEVICE double dshift(std::int64_t i) const { return dcoefficients[half + i]; }
  /// Directly and through the shift.
  COSMIC_DEVICE double dscale(std::int64_t i) const {
    return dcoefficients[i] - static_cast<double>(statistics[i]) * dshift(i);
  }
};

/// i: a group and a channel.
struct NormStatisticsGradientBody {
  CoefficientGradients gradients;
  const float* weight;
  Format weight_format;  ///< that it is rounded to
  float* dstatistics;
  std::int64_t channels;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double w = rounded_to(weight[divide(i, channels).rest], weight_format);
    const double r = gradients.r(i);
    dstatistics[i] = static_cast<float>(-w * r * gradients.dshift(i));
    dstatistics[gradients.half + i] =
        static_cast<float>(-0.5 * w * r * r * r * gradients.dscale(i));
  }
};

/// i: a channel. Of the weight or of the bias, summed over the groups.
struct NormParameterGradientBody {
  CoefficientGradients gradients;
  float* gradient;
  std::int64_t channels;
  bool of_weight;

  COSMIC_DEVICE void operator()(std::int64_t channel) const {
    double sum = 0;
    for (std::int64_t i = channel; i < gradients.half; i += channels) {
      sum += of_weight ? gradients.r(i) * gradients.dscale(i) : gradients.dshift(i);
    }
    gradient[channel] = static_cast<float>(sum);
  }
};

struct ChannelAffineBody {
  const float* x;
  const float* coefficients;
  float* y;
  PerChannel at;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t first = at.first(i);
    y[i] = x[i] * coefficients[first] + coefficients[at.second(first)];
  }
};

struct ChannelScaleBody {
  const float* x;
  const float* coefficients;
  float* y;
  PerChannel at;

  COSMIC_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] * coefficients[at.first(i)]; }
};

/// i: a channel; one update per group, in their order.
struct RunningUpdateBody {
  const float* running;
  const float* observed;  ///< [groups, channels]
  float* updated;
  std::int64_t groups;
  std::int64_t channels;
  double momentum;
  double unbiased;  ///< what makes a variance unbiased; 1 for a mean

  COSMIC_DEVICE void operator()(std::int64_t channel) const {
    double value = running[channel];
    for (std::int64_t group = 0; group < groups; ++group) {
      value = (1 - momentum) * value + momentum * unbiased * observed[group * channels + channel];
    }
    updated[channel] = static_cast<float>(value);
  }
};

/// kernel seen as [., filter, inner] times the scale of its filter.
struct ScaleFiltersBody {
  const float* kernel;
  const float* scales;
  float* scaled;
  std::int64_t filters;
  std::int64_t inner;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    scaled[i] = kernel[i] * scales[divide(quotient(i, inner), filters).rest];
  }
};

}  // namespace cosmic::target::cuda
