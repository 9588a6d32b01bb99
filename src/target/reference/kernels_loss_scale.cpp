#include <algorithm>
#include <cmath>
#include <limits>

#include "core/number_format.hpp"
#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {
namespace {

/// As the float that other targets have: what is too large for one is not finite there.
bool is_finite_float(double number) {
  return std::isfinite(static_cast<float>(number));
}

}  // namespace

Tensor run(const graph::AllFinite&, Operands in, const graph::TensorType& out) {
  Tensor finite = zeros(out);
  for (const Tensor* const operand : in) {
    if (!std::all_of(operand->data.begin(), operand->data.end(), is_finite_float)) {
      finite.data[0] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return finite;
}

Tensor run(const graph::Unscale&, Operands in, const graph::TensorType& out) {
  Tensor x = zeros(out);
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    x.data[i] = in[0]->data[i] / in[1]->data[0];
  }
  return x;
}

Tensor run(const graph::NextLossScale& op, Operands in, const graph::TensorType& out) {
  const double scale = in[0]->data[0];
  const double good_steps = in[1]->data[0];
  Tensor next = zeros(out);
  next.data[0] = scale;
  if (!is_finite_float(in[2]->data[0])) {
    next.data[0] = std::max(op.backoff * scale, graph::kLeastLossScale);
  } else if (good_steps + 1 >= static_cast<double>(op.interval) &&
             is_finite_float(op.growth * scale)) {
    next.data[0] = op.growth * scale;
  }
  return next;
}

Tensor run(const graph::GoodSteps& op, Operands in, const graph::TensorType& out) {
  const double next = in[0]->data[0] + 1;
  Tensor steps = zeros(out);
  if (is_finite_float(in[1]->data[0]) && next < static_cast<double>(op.interval)) {
    steps.data[0] = next;
  }
  return steps;
}

Tensor rounded_factor(const Tensor& factor, const graph::FactorRounding& rounding) {
  Tensor rounded = factor;
  for (double& number : rounded.data) {
    number = rounding.rounded(static_cast<float>(number));
  }
  return rounded;
}

}  // namespace cosmic::target::reference
