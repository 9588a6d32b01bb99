#include <algorithm>
#include <cmath>
#include <limits>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

using graph::SoftmaxKind;
using graph::Transposed;

double matrix_element(const Tensor& matrix, Transposed transposed, std::int64_t row,
                      std::int64_t column) {
  if (transposed == Transposed::yes) {
    std::swap(row, column);
  }
  return matrix.data[row * matrix.type.dim(1) + column];
}

namespace {

/// Calls visit(element, where element(k) is the index of number k along the axis) for every line
/// of numbers along the axis.
template <class Visit>
void for_each_line(const AxisView& view, const Visit& visit) {
  for (std::int64_t before = 0; before < view.outer; ++before) {
    for (std::int64_t after = 0; after < view.inner; ++after) {
      visit([&view, before, after](std::int64_t k) { return view.element(before, k, after); });
    }
  }
}

}  // namespace

Tensor run(const graph::MatMul& op, Operands in, const graph::TensorType& out) {
  const std::int64_t inner = in[0]->type.dim(op.a == Transposed::yes ? 0 : 1);
  Tensor y = zeros(out);
  for (std::int64_t row = 0; row < out.dim(0); ++row) {
    for (std::int64_t column = 0; column < out.dim(1); ++column) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += matrix_element(*in[0], op.a, row, k) * matrix_element(*in[1], op.b, k, column);
      }
      y.data[row * out.dim(1) + column] = sum;
    }
  }
  return y;
}

Tensor run(const graph::Softmax& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& x = in[0]->data;
  const AxisView view = around_axis(out, op.axis);
  Tensor y = zeros(out);
  for_each_line(view, [&](const auto& at) {
    // Subtracting the largest changes nothing and keeps exp from overflowing.
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < view.extent; ++k) {
      largest = std::max(largest, x[at(k)]);
    }
    double sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      sum += std::exp(x[at(k)] - largest);
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      const double logarithm = x[at(k)] - largest - std::log(sum);
      y.data[at(k)] = op.kind == SoftmaxKind::logarithm ? logarithm : std::exp(logarithm);
    }
  });
  return y;
}

// Probability: dx = y (dy - sum y dy). Logarithm: dx = dy - exp(y) sum dy.
Tensor run(const graph::SoftmaxGradient& op, Operands in, const graph::TensorType& out) {
  const std::vector<double>& y = in[0]->data;
  const std::vector<double>& dy = in[1]->data;
  const bool logarithm = op.kind == SoftmaxKind::logarithm;
  const AxisView view = around_axis(out, op.axis);
  Tensor dx = zeros(out);
  for_each_line(view, [&](const auto& at) {
    double sum = 0;
    for (std::int64_t k = 0; k < view.extent; ++k) {
      sum += logarithm ? dy[at(k)] : y[at(k)] * dy[at(k)];
    }
    for (std::int64_t k = 0; k < view.extent; ++k) {
      dx.data[at(k)] = logarithm ? dy[at(k)] - std::exp(y[at(k)]) * sum  //
                                 : y[at(k)] * (dy[at(k)] - sum);
    }
  });
  return dx;
}

}  // namespace cosmic::target::reference
