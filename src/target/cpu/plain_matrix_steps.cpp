#include "target/cpu/plain_step_kinds.hpp"

#include <algorithm>
#include <cmath>
#include "target/cpu/kernels/matrix_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

/// Extents before, along and after an axis.
std::array<std::int64_t, 3> around(const PlainNode& n, std::int64_t axis) {
  const auto a = static_cast<std::size_t>(axis);
  const graph::Shape& shape = n.node().type.shape;
  return {product(shape, 0, a), shape[a], product(shape, a + 1, shape.size())};
}

/// With fewer rows for each thread than this, threads share the columns.
constexpr std::int64_t kRowsWorthSharing = 16;

/// Each thread computes some rows or some columns: compute(part_of(product, rows, columns)).
template <class Product, class PartOf>
void run_in_parts(const Team& all, const Product& product, const PartOf& part_of,
                  void (*compute)(const Product&)) {
  const Team team =
      all.for_work(static_cast<double>(product.rows * product.columns * product.inner));
  const bool by_rows = product.rows >= kRowsWorthSharing * team.size();
  team.run([&](int thread) {
    Range rows{0, product.rows};
    Range columns{0, product.columns};
    (by_rows ? rows : columns) =
        slice_of(by_rows ? product.rows : product.columns, thread, team.size());
    Product part = part_of(product, rows, columns);
    part.out += rows.begin * product.out_stride + columns.begin;
    part.rows = rows.size();
    part.columns = columns.size();
    compute(part);
  });
}

/// Nobody multiplies so in a training step; it need not be fast.
std::unique_ptr<Step> twice_transposed(const PlainNode& n, std::int64_t inner) {
  return step([out = n.out(), a = n.in(0), b = n.in(1), rows = n.node().type.dim(0),
               columns = n.node().type.dim(1), inner](const Team&) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += a[k * rows + r] * b[c * inner + k];
        }
        out[r * columns + c] = sum;
      }
    }
  });
}

}  // namespace

std::unique_ptr<Step> plain_step(const graph::MatMul& op, const PlainNode& n) {
  const bool a_transposed = op.a == graph::Transposed::yes;
  const bool b_transposed = op.b == graph::Transposed::yes;
  const std::int64_t rows = n.node().type.dim(0);
  const std::int64_t columns = n.node().type.dim(1);
  const std::int64_t inner = n.type(0).dim(a_transposed ? 0 : 1);
  if (a_transposed && b_transposed) {
    return twice_transposed(n, inner);
  }
  if (b_transposed) {
    return step([p = RowProducts{.a = n.in(0),
                                 .b = n.in(1),
                                 .out = n.out(),
                                 .out_stride = columns,
                                 .rows = rows,
                                 .columns = columns,
                                 .inner = inner}](const Team& all) {
      run_in_parts(
          all, p,
          [](RowProducts part, const Range& mine_rows, const Range& mine_columns) {
            part.a += mine_rows.begin * part.inner;
            part.b += mine_columns.begin * part.inner;
            return part;
          },
          multiply_rows);
    });
  }
  return step([p = MatrixProduct{.a = n.in(0),
                                 .a_row_stride = a_transposed ? 1 : inner,
                                 .a_inner_stride = a_transposed ? rows : 1,
                                 .b = n.in(1),
                                 .b_stride = columns,
                                 .out = n.out(),
                                 .out_stride = columns,
                                 .rows = rows,
                                 .columns = columns,
                                 .inner = inner}](const Team& all) {
    run_in_parts(
        all, p,
        [](MatrixProduct part, const Range& mine_rows, const Range& mine_columns) {
          part.a += mine_rows.begin * part.a_row_stride;
          part.b += mine_columns.begin;
          return part;
        },
        multiply);
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
      const double log_of_sum = std::log(sum);
      for (std::int64_t i = first; i < end; i += inner) {
        const double shifted = x[i] - largest;
        out[i] = static_cast<float>(logarithm ? shifted - log_of_sum : std::exp(shifted) / sum);
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
