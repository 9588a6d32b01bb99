// Numbers per channel and per filter: small tensors around the large ones.
#include "target/cpu/plain_step_kinds.hpp"
#include "target/cpu/small_images/interleaved_image.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cosmic::target::cpu {
namespace {

/// Numbers per group: compute(groups) for any of them.
template <class Compute>
class GroupsStep final : public SimpleStep, public Bundled {
 public:
  GroupsStep(std::int64_t groups, Compute compute)
      : groups_(groups), compute_(std::move(compute)) {}

  void run(const Team&, const Scratch&) override { compute_(Range{0, groups_}); }
  /// Runs side by side with others only where every image is a group.
  void run_bundles(const Range& bundles) override {
    compute_(Range{bundles.begin * kBundle, bundles.end * kBundle});
  }
  void join_bundles() override {}  // every group is complete

 private:
  std::int64_t groups_;
  Compute compute_;
};

template <class Compute>
std::unique_ptr<PreparedStep> groups_step(std::int64_t groups, Compute compute) {
  return std::make_unique<GroupsStep<Compute>>(groups, std::move(compute));
}

// With r = 1 / sqrt(variance + epsilon): scale = w r and shift = b - mean w r, so
//   d mean     = -dshift w r
//   d variance = -(dscale - dshift mean) w r^3 / 2
//   d w        = (dscale - dshift mean) r, summed over groups;  d b = dshift, summed over groups.
void statistics_gradient(double epsilon, float* out, const float* s, const float* weight,
                         const float* d, std::int64_t channels, std::int64_t count,
                         const Range& groups) {
  for (std::int64_t group = groups.begin; group < groups.end; ++group) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t i = group * channels + c;
      const double r = 1 / std::sqrt(s[count + i] + epsilon);
      const double dshift = d[count + i];
      const double along = d[i] - dshift * s[i];
      out[i] = static_cast<float>(-dshift * weight[c] * r);
      out[count + i] = static_cast<float>(-along * weight[c] * r * r * r / 2);
    }
  }
}

/// The gradient of weight or bias, when all groups are known.
class NormParameterGradientStep final : public SimpleStep, public Bundled {
 public:
  NormParameterGradientStep(const graph::NormCoefficientsGradient& op, const PlainNode& n)
      : op_(op),
        channels_(n.type(0).dim(2)),
        count_(n.type(0).dim(1) * channels_),
        statistics_(n.in(0)),
        gradient_(n.in(2)),
        result_(n.out()) {}

  void run(const Team&, const Scratch&) override { join_bundles(); }
  void run_bundles(const Range&) override {}  // sums over all groups, which others still compute
  void join_bundles() override {
    for (std::int64_t c = 0; c < channels_; ++c) {
      double sum = 0;
      for (std::int64_t i = c; i < count_; i += channels_) {
        sum += op_.of == graph::NormCoefficientsGradient::Of::weight ? along_weight(i)
                                                                     : gradient_[count_ + i];
      }
      result_[c] = static_cast<float>(sum);
    }
  }

 private:
  double along_weight(std::int64_t i) const {
    const double mean = statistics_[i];
    const double dshift = gradient_[count_ + i];
    const double r = 1 / std::sqrt(statistics_[count_ + i] + op_.epsilon);
    return (gradient_[i] - dshift * mean) * r;
  }

  graph::NormCoefficientsGradient op_;
  std::int64_t channels_;
  std::int64_t count_;
  const float* statistics_;
  const float* gradient_;
  float* result_;
};

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::ChannelSum&, const PlainNode& n) {
  const std::int64_t rows = n.type(0).dim(0);
  const std::int64_t channels = n.type(0).dim(1);
  return step(
      [out = n.out(), x = n.in(0), rows, channels,
       sums = std::vector<double>(static_cast<std::size_t>(channels))](const Team&) mutable {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t c = 0; c < channels; ++c) {
            sums[static_cast<std::size_t>(c)] += x[row * channels + c];
          }
        }
        std::transform(sums.begin(), sums.end(), out,
                       [](double sum) { return static_cast<float>(sum); });
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::ScaleFilters& op, const PlainNode& n) {
  const graph::TensorType& type = n.node().type;
  const std::int64_t outer = op.filter_axis == 0 ? 1 : type.dim(0);
  const std::int64_t filters = type.dim(static_cast<std::size_t>(op.filter_axis));
  const std::int64_t inner = type.elements() / outer / filters;
  return elementwise(type.elements(), [out = n.out(), w = n.in(0), scale = n.in(1), filters, inner](
                                          std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = w[i] * scale[i / inner % filters];
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::RestateStatistics& op, const PlainNode& n) {
  const bool as_variance = op.as == graph::SecondMoment::variance;
  return step([out = n.out(), s = n.in(0), half = n.node().type.elements() / 2,
               as_variance](const Team&) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double square = static_cast<double>(s[i]) * s[i];
      const double variance = s[half + i] - square;
      out[i] = s[i];
      // Not the larger of the two: what is no number must stay none.
      out[half + i] =
          static_cast<float>(as_variance ? (variance < 0 ? 0.0 : variance) : s[half + i] + square);
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::NormCoefficients& op, const PlainNode& n) {
  const std::int64_t groups = n.node().type.dim(1);
  const std::int64_t channels = n.node().type.dim(2);
  return groups_step(
      groups, [out = n.out(), s = n.in(0), weight = n.in(1), bias = n.in(2), channels,
               count = groups * channels, epsilon = op.epsilon](const Range& mine) {
        for (std::int64_t i = mine.begin * channels; i < mine.end * channels; ++i) {
          const double scale = weight[i % channels] / std::sqrt(s[count + i] + epsilon);
          out[i] = static_cast<float>(scale);
          out[count + i] = static_cast<float>(bias[i % channels] - s[i] * scale);
        }
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::NormCoefficientsGradient& op,
                                         const PlainNode& n) {
  if (op.of != graph::NormCoefficientsGradient::Of::statistics) {
    return std::make_unique<NormParameterGradientStep>(op, n);
  }
  const std::int64_t groups = n.type(0).dim(1);
  const std::int64_t channels = n.type(0).dim(2);
  return groups_step(groups, [out = n.out(), s = n.in(0), weight = n.in(1), d = n.in(2), channels,
                              count = groups * channels, epsilon = op.epsilon](const Range& mine) {
    statistics_gradient(epsilon, out, s, weight, d, channels, count, mine);
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::RunningUpdate& op, const PlainNode& n) {
  const std::int64_t groups = n.type(1).dim(1);
  const std::int64_t channels = n.type(1).dim(2);
  return step([out = n.out(), running = n.in(0), s = n.in(1), groups, channels, op](const Team&) {
    const bool mean = op.of == graph::RunningUpdate::Of::mean;
    const double unbiased = mean || op.count < 2
                                ? 1.0
                                : static_cast<double>(op.count) / static_cast<double>(op.count - 1);
    for (std::int64_t c = 0; c < channels; ++c) {
      double value = running[c];
      for (std::int64_t group = 0; group < groups; ++group) {
        const double seen = s[((mean ? 0 : groups) + group) * channels + c] * unbiased;
        value = (1 - op.momentum) * value + op.momentum * seen;
      }
      out[c] = static_cast<float>(value);
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::Increment& op, const PlainNode& n) {
  return step([out = n.out<std::int64_t>(), x = n.in<const std::int64_t>(0),
               count = n.node().type.elements(), by = op.by](const Team&) {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = x[i] + by;
    }
  });
}

}  // namespace cosmic::target::cpu
