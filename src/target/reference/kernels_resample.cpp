#include <algorithm>
#include <array>
#include <cmath>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

using graph::FeatureMap;

/// A two-dimensional image has no depth to resample.
graph::Factors factors_for(const graph::TensorType& image, graph::Factors factors) {
  if (image.rank() == 4) {
    factors[0] = 1;
  }
  return factors;
}

/// Calls visit(largest element of x, element of y) for every window of every channel. Of several
/// largest it is the first in (depth, row, column) order.
template <class Visit>
void for_each_window(const Tensor& x, const graph::TensorType& pooled, const graph::Factors& given,
                     const Visit& visit) {
  const graph::Factors window = factors_for(x.type, given);
  const FeatureMap from = graph::feature_map(x.type, "the operand");
  const FeatureMap to = graph::feature_map(pooled, "the result");
  const FeatureMap one_window{1, 1, window[0], window[1], window[2]};
  for (std::int64_t image = 0; image < to.batch; ++image) {
    for (std::int64_t channel = 0; channel < to.channels; ++channel) {
      for_each_position(to, [&](const Position& p) {
        const Position corner{p.depth * window[0], p.row * window[1], p.column * window[2]};
        std::int64_t largest = element(from, image, channel, corner);
        for_each_position(one_window, [&](const Position& step) {
          const std::int64_t candidate = element(
              from, image, channel,
              {corner.depth + step.depth, corner.row + step.row, corner.column + step.column});
          if (x.data[candidate] > x.data[largest]) {
            largest = candidate;
          }
        });
        visit(largest, element(to, image, channel, p));
      });
    }
  }
}

struct Tap {
  std::int64_t at = 0;
  double weight = 0;
};

std::array<Tap, 2> nearest_taps(std::int64_t i, std::int64_t factor) {
  return {Tap{i / factor, 1.0}, Tap{i / factor, 0.0}};
}

/// Twice as many pixels, align_corners = false.
std::array<Tap, 2> bilinear_taps(std::int64_t i, std::int64_t extent) {
  const double source = std::max(0.0, (static_cast<double>(i) + 0.5) / 2 - 0.5);
  const auto low = static_cast<std::int64_t>(std::floor(source));
  const std::int64_t high = std::min(low + 1, extent - 1);
  const double beyond = source - static_cast<double>(low);
  return {Tap{low, 1 - beyond}, Tap{high, beyond}};
}

/// Calls visit(small element, large element, weight) for every product an upsampling adds up; its
/// adjoint is a sum over the same.
template <class Visit>
void for_each_share(graph::Interpolation interpolation, const graph::Factors& given,
                    const graph::TensorType& small_type, const graph::TensorType& large_type,
                    const Visit& visit) {
  const graph::Factors factor = factors_for(small_type, given);
  const FeatureMap small = graph::feature_map(small_type, "the small image");
  const FeatureMap large = graph::feature_map(large_type, "the large image");
  const bool bilinear = interpolation == graph::Interpolation::bilinear;
  for (std::int64_t image = 0; image < large.batch; ++image) {
    for (std::int64_t channel = 0; channel < large.channels; ++channel) {
      for_each_position(large, [&](const Position& p) {
        const auto rows = bilinear ? bilinear_taps(p.row, small.rows)  //
                                   : nearest_taps(p.row, factor[1]);
        const auto columns =
            bilinear ? bilinear_taps(p.column, small.columns) : nearest_taps(p.column, factor[2]);
        for (const Tap& row : rows) {
          for (const Tap& column : columns) {
            visit(element(small, image, channel, {p.depth / factor[0], row.at, column.at}),
                  element(large, image, channel, p), row.weight * column.weight);
          }
        }
      });
    }
  }
}

}  // namespace

Tensor run(const graph::MaxPool& op, Operands in, const graph::TensorType& out) {
  const Tensor& x = *in[0];
  Tensor y = zeros(out);
  for_each_window(x, out, op.window,
                  [&](std::int64_t largest, std::int64_t to) { y.data[to] = x.data[largest]; });
  return y;
}

Tensor run(const graph::MaxPoolGradient& op, Operands in, const graph::TensorType& out) {
  const Tensor& x = *in[0];
  const Tensor& dy = *in[1];
  Tensor dx = zeros(out);
  for_each_window(x, dy.type, op.window,
                  [&](std::int64_t largest, std::int64_t to) { dx.data[largest] = dy.data[to]; });
  return dx;
}

Tensor run(const graph::Upsample& op, Operands in, const graph::TensorType& out) {
  const Tensor& x = *in[0];
  Tensor y = zeros(out);
  for_each_share(op.interpolation, op.factor, x.type, out,
                 [&](std::int64_t small, std::int64_t large, double weight) {
                   y.data[large] += weight * x.data[small];
                 });
  return y;
}

Tensor run(const graph::UpsampleGradient& op, Operands in, const graph::TensorType& out) {
  const Tensor& dy = *in[0];
  Tensor dx = zeros(out);
  for_each_share(op.interpolation, op.factor, out, dy.type,
                 [&](std::int64_t small, std::int64_t large, double weight) {
                   dx.data[small] += weight * dy.data[large];
                 });
  return dx;
}

}  // namespace cosmic::target::reference
