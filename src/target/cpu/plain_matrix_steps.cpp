#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <cmath>

namespace cosmic::target::cpu {
namespace {

/// Extents before, along and after an axis.
std::array<std::int64_t, 3> around(const PlainNode& n, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  const graph::Shape& shape = n.node().type.shape;
  return {product(shape, 0, a), shape[a], product(shape, a + 1, shape.size())};
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::Softmax& op, const PlainNode& n) {
  const auto [outer, extent, inner] = around(n, op.axis);
  return step([out = n.out(), x = n.in(0), outer = outer, extent = extent, inner = inner,
               logarithm = op.kind == graph::SoftmaxKind::logarithm](const Team&) {
    for (std::int64_t o = 0; o < outer * inner; ++o) {
      const std::int64_t first = o / inner * extent * inner + o % inner;
      const std::int64_t end = first + extent * inner;
      float largest = x[first];
      for (std::int64_t i = first; i < end; i += inner) {
        largest = std::max(largest, x[i]);
      }
      double sum = 0;
      for (std::int64_t i = first; i < end; i += inner) {
        sum += std::exp(static_cast<double>(x[i] - largest));
      }
      const double log_of_sum = std::log(sum);
      for (std::int64_t i = first; i < end; i += inner) {
        const double shifted = x[i] - largest;
        out[i] = static_cast<float>(logarithm ? shifted - log_of_sum : std::exp(shifted) / sum);
      }
    }
  });
}

std::unique_ptr<PreparedStep> plain_step(const graph::SoftmaxGradient& op, const PlainNode& n) {
  const auto [outer, extent, inner] = around(n, op.axis);
  return step([out = n.out(), y = n.in(0), dy = n.in(1), outer = outer, extent = extent,
               inner = inner, logarithm = op.kind == graph::SoftmaxKind::logarithm](const Team&) {
    for (std::int64_t o = 0; o < outer * inner; ++o) {
      const std::int64_t first = o / inner * extent * inner + o % inner;
      const std::int64_t end = first + extent * inner;
      double sum = 0;
      for (std::int64_t i = first; i < end; i += inner) {
        sum += logarithm ? dy[i] : static_cast<double>(dy[i]) * y[i];
      }
      for (std::int64_t i = first; i < end; i += inner) {
        out[i] = static_cast<float>(logarithm ? dy[i] - std::exp(static_cast<double>(y[i])) * sum
                                              : y[i] * (dy[i] - sum));
      }
    }
  });
}

}  // namespace cosmic::target::cpu
