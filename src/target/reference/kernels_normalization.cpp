#include <cmath>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

using graph::FeatureMap;

/// Finds numbers in a tensor [2, groups, channels] for the images and channels of a batch.
class PerChannel {
 public:
  PerChannel(const FeatureMap& map, std::int64_t groups)
      : images_per_group_(map.batch / groups), groups_(groups), channels_(map.channels) {}

  std::int64_t first(std::int64_t image, std::int64_t channel) const {
    return image / images_per_group_ * channels_ + channel;
  }
  std::int64_t second(std::int64_t image, std::int64_t channel) const {
    return groups_ * channels_ + first(image, channel);
  }

 private:
  std::int64_t images_per_group_;
  std::int64_t groups_;
  std::int64_t channels_;
};

/// Elements that share one mean and one variance.
double pool_size(const FeatureMap& x, std::int64_t groups, std::int64_t pooled_channels) {
  return static_cast<double>(x.batch / groups * pooled_channels * x.pixels());
}

/// Every channel gets the sum over the channels it is pooled with.
void share_within_pools(Tensor& per_channel, std::int64_t pooled_channels) {
  const AxisView view = around_axis(per_channel.type, 2);
  for (std::int64_t row = 0; row < view.outer; ++row) {
    for (std::int64_t begin = 0; begin < view.extent; begin += pooled_channels) {
      double sum = 0;
      for (std::int64_t channel = begin; channel < begin + pooled_channels; ++channel) {
        sum += per_channel.data[view.element(row, channel, 0)];
      }
      for (std::int64_t channel = begin; channel < begin + pooled_channels; ++channel) {
        per_channel.data[view.element(row, channel, 0)] = sum;
      }
    }
  }
}

}  // namespace

Tensor run(const graph::Statistics& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& x = in[0]->data;
  const FeatureMap map = graph::feature_map(in[0]->type, "the operand");
  const PerChannel at(map, op.groups);
  const double n = pool_size(map, op.groups, op.pooled_channels);

  Tensor means = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    means.data[at.first(image, channel)] += x[i] / n;
  });
  share_within_pools(means, op.pooled_channels);

  Tensor variances = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    const double deviation = x[i] - means.data[at.first(image, channel)];
    variances.data[at.second(image, channel)] += deviation * deviation / n;
  });
  share_within_pools(variances, op.pooled_channels);

  // Each fills its own half and leaves the other zero.
  Tensor statistics = zeros(out);
  for (std::size_t i = 0; i < statistics.data.size(); ++i) {
    statistics.data[i] = means.data[i] + variances.data[i];
  }
  return statistics;
}

Tensor run(const graph::StatisticsGradient& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& x = in[0]->data;
  const std::vector<double>& statistics = in[1]->data;
  Tensor dstatistics = *in[2];
  share_within_pools(dstatistics, op.pooled_channels);
  const FeatureMap map = graph::feature_map(out, "the result");
  const PerChannel at(map, op.groups);
  const double n = pool_size(map, op.groups, op.pooled_channels);
  Tensor dx = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    const double dmean = dstatistics.data[at.first(image, channel)];
    const double dvariance = dstatistics.data[at.second(image, channel)];
    const double deviation = x[i] - statistics[at.first(image, channel)];
    dx.data[i] = dmean / n + dvariance * 2 * deviation / n;
  });
  return dx;
}

Tensor run(const graph::RestateStatistics& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& statistics = in[0]->data;
  const std::size_t half = statistics.size() / 2;
  Tensor restated = zeros(out);
  for (std::size_t i = 0; i < half; ++i) {
    const double square = statistics[i] * statistics[i];
    const double variance = statistics[half + i] - square;
    restated.data[i] = statistics[i];
    // Not the larger of the two: what is no number must stay none.
    restated.data[half + i] = op.as == graph::SecondMoment::mean_square
                                  ? statistics[half + i] + square
                              : variance < 0 ? 0
                                             : variance;
  }
  return restated;
}

Tensor run(const graph::NormCoefficients& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& statistics = in[0]->data;
  const std::vector<double>& weight = in[1]->data;
  const std::vector<double>& bias = in[2]->data;
  const std::int64_t channels = out.dim(2);
  const std::int64_t half = out.dim(1) * channels;
  Tensor coefficients = zeros(out);
  for (std::int64_t i = 0; i < half; ++i) {
    const std::int64_t channel = i % channels;
    const double mean = statistics[i];
    const double variance = statistics[half + i];
    const double scale = weight[channel] / std::sqrt(variance + op.epsilon);
    coefficients.data[i] = scale;
    coefficients.data[half + i] = bias[channel] - mean * scale;
  }
  return coefficients;
}

// With r = 1 / sqrt(variance + epsilon): scale = weight r, shift = bias - mean weight r. The scale
// acts on the loss directly and through the shift: its whole gradient is dscale - mean dshift.
Tensor run(const graph::NormCoefficientsGradient& op, Operands in, const graph::TensorType& out) {
  using Of = graph::NormCoefficientsGradient::Of;
  const std::vector<double>& statistics = in[0]->data;
  const std::vector<double>& weight = in[1]->data;
  const std::vector<double>& dcoefficients = in[2]->data;
  const std::int64_t channels = in[0]->type.dim(2);
  const std::int64_t half = in[0]->type.dim(1) * channels;
  Tensor gradient = zeros(out);
  for (std::int64_t i = 0; i < half; ++i) {
    const std::int64_t channel = i % channels;
    const double mean = statistics[i];
    const double r = 1 / std::sqrt(statistics[half + i] + op.epsilon);
    const double dshift = dcoefficients[half + i];
    const double dscale = dcoefficients[i] - mean * dshift;
    switch (op.of) {
      case Of::statistics:
        gradient.data[i] = -weight[channel] * r * dshift;
        gradient.data[half + i] = -0.5 * weight[channel] * r * r * r * dscale;
        break;
      case Of::weight:
        gradient.data[channel] += r * dscale;
        break;
      case Of::bias:
        gradient.data[channel] += dshift;
        break;
    }
  }
  return gradient;
}

Tensor run(const graph::ChannelAffine&, Operands in, const graph::TensorType& out) {
  const std::vector<double>& coefficients = in[1]->data;
  const FeatureMap map = graph::feature_map(out, "the result");
  const PerChannel at(map, in[1]->type.dim(1));
  Tensor y = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    y.data[i] = in[0]->data[i] * coefficients[at.first(image, channel)] +
                coefficients[at.second(image, channel)];
  });
  return y;
}

Tensor run(const graph::ChannelScale&, Operands in, const graph::TensorType& out) {
  const std::vector<double>& coefficients = in[1]->data;
  const FeatureMap map = graph::feature_map(out, "the result");
  const PerChannel at(map, in[1]->type.dim(1));
  Tensor y = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    y.data[i] = in[0]->data[i] * coefficients[at.first(image, channel)];
  });
  return y;
}

Tensor run(const graph::ChannelProducts& op, Operands in, const graph::TensorType& out) {
  const FeatureMap map = graph::feature_map(in[0]->type, "the operand");
  const PerChannel at(map, op.groups);
  Tensor sums = zeros(out);
  for_each_element(map, [&](std::int64_t image, std::int64_t channel, std::int64_t i) {
    const double x = in[0]->data[i];
    const double dy = in[1]->data[i];
    sums.data[at.first(image, channel)] += dy * x;
    sums.data[at.second(image, channel)] += dy;
  });
  return sums;
}

Tensor run(const graph::RunningUpdate& op, Operands in, const graph::TensorType& out) {
  using Of = graph::RunningUpdate::Of;
  const std::vector<double>& statistics = in[1]->data;
  const std::int64_t groups = in[1]->type.dim(1);
  const std::int64_t channels = in[1]->type.dim(2);
  const auto count = static_cast<double>(op.count);
  // One element has no unbiased variance; its biased one, zero, stands in.
  const double unbiased = op.of == Of::variance && op.count > 1 ? count / (count - 1) : 1.0;
  const std::int64_t first = op.of == Of::variance ? groups * channels : 0;
  Tensor running = zeros(out);
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    double value = in[0]->data[channel];
    for (std::int64_t group = 0; group < groups; ++group) {
      const double observed = unbiased * statistics[first + group * channels + channel];
      value = (1 - op.momentum) * value + op.momentum * observed;
    }
    running.data[channel] = value;
  }
  return running;
}

Tensor run(const graph::Increment& op, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = in[0]->data[i] + static_cast<double>(op.by);
  }
  return y;
}

}  // namespace cosmic::target::reference
