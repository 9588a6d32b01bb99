#include <cmath>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

Tensor run(const graph::Moment& op, Operands in, const graph::TensorType& out) {
  Tensor moment = zeros(out);
  for (std::size_t i = 0; i < moment.data.size(); ++i) {
    const double gradient = in[1]->data[i];
    const double power = op.power == 2 ? gradient * gradient : gradient;
    moment.data[i] = op.decay * in[0]->data[i] + op.gain * power;
  }
  return moment;
}

Tensor run(const graph::AdamStep& op, Operands in, const graph::TensorType& out) {
  const double rate = in[3]->data[0];
  const double steps = in[4]->data[0];
  const double correction1 = 1 - std::pow(op.beta1, steps);
  const double correction2 = 1 - std::pow(op.beta2, steps);
  Tensor parameter = zeros(out);
  for (std::size_t i = 0; i < parameter.data.size(); ++i) {
    const double first = in[1]->data[i] / correction1;
    const double root = std::sqrt(in[2]->data[i]) / std::sqrt(correction2);
    const double decayed = in[0]->data[i] * (1 - rate * op.weight_decay);
    parameter.data[i] = decayed - rate * first / (root + op.epsilon);
  }
  return parameter;
}

Tensor run(const graph::RmspropStep& op, Operands in, const graph::TensorType& out) {
  const double rate = in[3]->data[0];
  Tensor parameter = zeros(out);
  for (std::size_t i = 0; i < parameter.data.size(); ++i) {
    const double root = std::sqrt(in[2]->data[i]);
    parameter.data[i] = in[0]->data[i] - rate * in[1]->data[i] / (root + op.epsilon);
  }
  return parameter;
}

Tensor run(const graph::SgdStep&, Operands in, const graph::TensorType& out) {
  const double rate = in[2]->data[0];
  Tensor parameter = zeros(out);
  for (std::size_t i = 0; i < parameter.data.size(); ++i) {
    parameter.data[i] = in[0]->data[i] - rate * in[1]->data[i];
  }
  return parameter;
}

}  // namespace cosmic::target::reference
