#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

Tensor run(const graph::Add&, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = in[0]->data[i] + in[1]->data[i];
  }
  return y;
}

Tensor run(const graph::Scale& op, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = op.factor * in[0]->data[i];
  }
  return y;
}

Tensor run(const graph::LeakyRelu& op, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const double x = in[0]->data[i];
    y.data[i] = x > 0 ? x : op.slope * x;
  }
  return y;
}

Tensor run(const graph::LeakyReluGradient& op, Operands in, const graph::TensorType& out) {
  Tensor dx = zeros(out);
  for (std::size_t i = 0; i < dx.data.size(); ++i) {
    const double dy = in[1]->data[i];
    dx.data[i] = in[0]->data[i] > 0 ? dy : op.slope * dy;
  }
  return dx;
}

Tensor run(const graph::ChannelBias&, Operands in, const graph::TensorType& out) {
  Tensor y = zeros(out);
  for_each_element(graph::feature_map(out, "the result"),
                   [&](std::int64_t, std::int64_t channel, std::int64_t i) {
                     y.data[i] = in[0]->data[i] + in[1]->data[channel];
                   });
  return y;
}

Tensor run(const graph::ChannelSum&, Operands in, const graph::TensorType& out) {
  Tensor sums = zeros(out);
  for_each_element(graph::feature_map(in[0]->type, "the operand"),
                   [&](std::int64_t, std::int64_t channel, std::int64_t i) {
                     sums.data[channel] += in[0]->data[i];
                   });
  return sums;
}

}  // namespace cosmic::target::reference
