#include <cmath>

#include "target/reference/kernels.hpp"

namespace cosmic::target::reference {

Tensor run(const graph::Moment& op, Operands in, const graph::TensorType& out) {
  const double decay = in.size() > 2 ? in[2]->data[0] : op.decay;
  const double gain = in.size() > 2 ? in[2]->data[1] : op.gain;
  Tensor moment = zeros(out);
  for (std::size_t i = 0; i < moment.data.size(); ++i) {
    const double gradient = in[1]->data[i];
    const double power = op.power == 2 ? gradient * gradient : gradient;
    moment.data[i] = decay * in[0]->data[i] + gain * power;
  }
  return moment;
}

Tensor run(const graph::AdamStep& op, Operands in, const graph::TensorType& out) {
  const double rate = in[3]->data[0];
  const double steps = in[4]->data[0];
  const bool varies = in.size() > 5;
  const double beta1 = varies ? 1 - in[5]->data[1] : op.beta1;
  const double beta2 = varies ? 1 - in[5]->data[3] : op.beta2;
  const double epsilon = varies ? in[5]->data[4] : op.epsilon;
  const double weight_decay = varies ? in[5]->data[5] : op.weight_decay;
  const double correction1 = 1 - std::pow(beta1, steps);
  const double correction2 = 1 - std::pow(beta2, steps);
  Tensor parameter = zeros(out);
  for (std::size_t i = 0; i < parameter.data.size(); ++i) {
    const double first = in[1]->data[i] / correction1;
    const double root = std::sqrt(in[2]->data[i]) / std::sqrt(correction2);
    const double decayed = in[0]->data[i] * (1 - rate * weight_decay);
    parameter.data[i] = decayed - rate * first / (root + epsilon);
  }
  return parameter;
}

Tensor run(const graph::RmspropStep& op, Operands in, const graph::TensorType& out) {
  const double rate = in[3]->data[0];
  const double epsilon = in.size() > 4 ? in[4]->data[0] : op.epsilon;
  Tensor parameter = zeros(out);
  for (std::size_t i = 0; i < parameter.data.size(); ++i) {
    const double root = std::sqrt(in[2]->data[i]);
    parameter.data[i] = in[0]->data[i] - rate * in[1]->data[i] / (root + epsilon);
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
