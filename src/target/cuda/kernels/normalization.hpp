// Normalisation: statistics, coefficients, the affine map, and their gradients. Numbers per channel
// are [2, groups, channels].
#pragma once

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

/// The pools of a Statistics: neighbouring channels of a group of images.
struct Pools {
  PerChannel at;
  std::int64_t pooled;  ///< channels

  COSMIC_DEVICE std::int64_t outputs() const { return at.groups * at.channels / pooled; }
  COSMIC_DEVICE std::int64_t terms() const { return at.images_per_group * pooled * at.pixels; }
  /// Of the first channel of a pool.
  COSMIC_DEVICE std::int64_t number(std::int64_t pool) const { return pool * pooled; }
  COSMIC_DEVICE ChannelRuns runs(std::int64_t pool) const {
    const Division begin = divide(number(pool), at.channels);
    const std::int64_t first_image = begin.whole * at.images_per_group;
    return {(first_image * at.channels + begin.rest) * at.pixels, pooled * at.pixels,
            at.channels * at.pixels};
  }
};

/// Output: a pool; every channel of it gets the mean.
struct MeanBody {
  static constexpr int kSums = 1;
  using Context = ChannelRuns;

  const float* x;
  float* statistics;
  Pools pools;

  COSMIC_DEVICE Context at(std::int64_t pool) const { return pools.runs(pool); }
  COSMIC_DEVICE void add(const Context& runs, std::int64_t term, float* sums) const {
    sums[0] += x[runs.element(term)];
  }
  COSMIC_DEVICE void finish(std::int64_t pool, const double* sums) const {
    const auto mean = static_cast<float>(sums[0] / static_cast<double>(pools.terms()));
    for (std::int64_t k = 0; k < pools.pooled; ++k) {
      statistics[pools.number(pool) + k] = mean;
    }
  }
};

/// The same for the variance, once the mean is there.
struct VarianceBody {
  static constexpr int kSums = 1;

  struct Context {
    ChannelRuns runs;
    float mean;
  };

  const float* x;
  float* statistics;
  Pools pools;

  COSMIC_DEVICE Context at(std::int64_t pool) const {
    return {pools.runs(pool), statistics[pools.number(pool)]};
  }
  COSMIC_DEVICE void add(const Context& context, std::int64_t term, float* sums) const {
    const float deviation = x[context.runs.element(term)] - context.mean;
    sums[0] += deviation * deviation;
  }
  COSMIC_DEVICE void finish(std::int64_t pool, const double* sums) const {
    const auto variance = static_cast<float>(sums[0] / static_cast<double>(pools.terms()));
    for (std::int64_t k = 0; k < pools.pooled; ++k) {
      statistics[pools.at.second(pools.number(pool) + k)] = variance;
    }
  }
};

struct StatisticsGradientBody {
  const float* x;
  const float* statistics;
  const float* dstatistics;
  float* dx;
  Pools pools;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t first = pools.at.first(i);
    const std::int64_t begin = quotient(first, pools.pooled) * pools.pooled;
    float dmean = 0;
    float dvariance = 0;
    for (std::int64_t k = begin; k < begin + pools.pooled; ++k) {
      dmean += dstatistics[k];
      dvariance += dstatistics[pools.at.second(k)];
    }
    const auto n = static_cast<float>(pools.terms());
    dx[i] = (dmean + dvariance * 2 * (x[i] - statistics[first])) / n;
  }
};

/// i: a group and a channel.
struct NormCoefficientsBody {
  const float* statistics;
  const float* weight;
  const float* bias;
  float* coefficients;
  std::int64_t channels;
  std::int64_t half;  ///< groups * channels
  double epsilon;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t channel = divide(i, channels).rest;
    const double scale = weight[channel] / sqrt(statistics[half + i] + epsilon);
    coefficients[i] = static_cast<float>(scale);
    coefficients[half + i] = static_cast<float>(bias[channel] - statistics[i] * scale);
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
  float* dstatistics;
  std::int64_t channels;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const double w = weight[divide(i, channels).rest];
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

/// Output: a group and a channel.
struct ChannelProductsBody {
  static constexpr int kSums = 2;
  using Context = ChannelRuns;

  const float* x;
  const float* dy;
  float* products;
  Pools pools;  ///< of one channel each

  COSMIC_DEVICE Context at(std::int64_t output) const { return pools.runs(output); }
  COSMIC_DEVICE void add(const Context& runs, std::int64_t term, float* sums) const {
    const std::int64_t i = runs.element(term);
    sums[0] += dy[i] * x[i];
    sums[1] += dy[i];
  }
  COSMIC_DEVICE void finish(std::int64_t output, const double* sums) const {
    products[output] = static_cast<float>(sums[0]);
    products[pools.at.second(output)] = static_cast<float>(sums[1]);
  }
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

}  // namespace cosmic::target::cuda
