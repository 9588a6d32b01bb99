#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <cmath>
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

/// Extents before, along and after an axis.
std::array<std::int64_t, 3> around(const PlainNode& n, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  const graph::Shape& shape = n.node().type.shape;
  return {product(shape, 0, a), shape[a], product(shape, a + 1, shape.size())};
}

}  // namespace

std::unique_ptr<Step> plain_step(const graph::MatMul& op, const PlainNode& n) {
  const std::int64_t rows = n.node().type.dim(0);
  const std::int64_t columns = n.node().type.dim(1);
  const bool a_transposed = op.a == graph::Transposed::yes;
  const bool b_transposed = op.b == graph::Transposed::yes;
  const std::int64_t inner = n.type(0).dim(a_transposed ? 0 : 1);
  return step([out = n.out(), a = n.in(0), b = n.in(1), rows, columns, inner, a_transposed,
               b_transposed](const Team& all) {
    const Team team = all.for_work(static_cast<double>(rows * columns * inner));
    team.run([&](int thread) {
      const Range mine = slice_of(rows, thread, team.size());
      for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        float* const to = out + r * columns;
        std::fill_n(to, columns, 0.0F);
        for (std::int64_t k = 0; k < inner && !b_transposed; ++k) {
          const float factor = a_transposed ? a[k * rows + r] : a[r * inner + k];
          scale_add(to, to, b + k * columns, factor, columns);
        }
        for (std::int64_t c = 0; c < columns && b_transposed; ++c) {
          float sum = 0;
          for (std::int64_t k = 0; k < inner; ++k) {
            sum += (a_transposed ? a[k * rows + r] : a[r * inner + k]) * b[c * inner + k];
          }
          to[c] = sum;
        }
      }
    });
  });
}

std::unique_ptr<Step> plain_step(const graph::Softmax& op, const PlainNode& n) {
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
      for (std::int64_t i = first; i < end; i += inner) {
        const double shifted = x[i] - largest;
        out[i] = static_cast<float>(logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum);
      }
    }
  });
}

std::unique_ptr<Step> plain_step(const graph::SoftmaxGradient& op, const PlainNode& n) {
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
