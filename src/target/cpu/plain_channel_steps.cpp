// Numbers per channel and per filter: small tensors around the large ones.
#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cosmic::target::cpu {
namespace {

// With r = 1 / sqrt(variance + epsilon): scale = w r and shift = b - mean w r, so
//   d mean     = -dshift w r
//   d variance = -(dscale - dshift mean) w r^3 / 2
//   d w        = (dscale - dshift mean) r, summed over groups;  d b = dshift, summed over groups.
void norm_gradient(const graph::NormCoefficientsGradient& op, float* out, const float* s,
                   const float* weight, const float* d, std::int64_t channels, std::int64_t count) {
  using Of = graph::NormCoefficientsGradient::Of;
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t i = c; i < count; i += channels) {
      const double mean = s[i];
      const double r = 1 / std::sqrt(s[count + i] + op.epsilon);
      const double dscale = d[i];
      const double dshift = d[count + i];
      const double along = dscale - dshift * mean;
      if (op.of == Of::statistics) {
        out[i] = static_cast<float>(-dshift * weight[c] * r);
        out[count + i] = static_cast<float>(-along * weight[c] * r * r * r / 2);
      } else {
        sum += op.of == Of::weight ? along * r : dshift;
      }
    }
    if (op.of != Of::statistics) {
      out[c] = static_cast<float>(sum);
    }
  }
}

}  // namespace

std::unique_ptr<Step> plain_step(const graph::ChannelSum&, const PlainNode& n) {
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

std::unique_ptr<Step> plain_step(const graph::ScaleFilters& op, const PlainNode& n) {
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

std::unique_ptr<Step> plain_step(const graph::NormCoefficients& op, const PlainNode& n) {
  const std::int64_t channels = n.node().type.dim(2);
  const std::int64_t count = n.node().type.dim(1) * channels;
  return step([out = n.out(), s = n.in(0), weight = n.in(1), bias = n.in(2), channels, count,
               epsilon = op.epsilon](const Team&) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double scale = weight[i % channels] / std::sqrt(s[count + i] + epsilon);
      out[i] = static_cast<float>(scale);
      out[count + i] = static_cast<float>(bias[i % channels] - s[i] * scale);
    }
  });
}

std::unique_ptr<Step> plain_step(const graph::NormCoefficientsGradient& op, const PlainNode& n) {
  const graph::TensorType& statistics = n.type(0);
  const std::int64_t channels = statistics.dim(2);
  const std::int64_t count = statistics.dim(1) * channels;
  return step([out = n.out(), s = n.in(0), weight = n.in(1), d = n.in(2), channels, count,
               op](const Team&) { norm_gradient(op, out, s, weight, d, channels, count); });
}

std::unique_ptr<Step> plain_step(const graph::RunningUpdate& op, const PlainNode& n) {
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

std::unique_ptr<Step> plain_step(const graph::Increment& op, const PlainNode& n) {
  return step([out = n.out<std::int64_t>(), x = n.in<const std::int64_t>(0),
               count = n.node().type.elements(), by = op.by](const Team&) {
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = x[i] + by;
    }
  });
}

}  // namespace cosmic::target::cpu
