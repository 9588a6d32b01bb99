#include "target/cpu/plain_step_kinds.hpp"

#include <cmath>
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {

// Numbers that vary are read when the step runs; null where they are attributes.

namespace {

const float* varying(const PlainNode& n, std::size_t operand) {
  return operand < n.node().operands.size() ? n.in(operand) : nullptr;
}

/// 1 - beta^t, where a float holds 1 - beta better than beta.
double bias_correction(double one_minus_beta, double t) {
  return -std::expm1(t * std::log1p(-one_minus_beta));
}

}  // namespace

std::unique_ptr<PreparedStep> plain_step(const graph::Moment& op, const PlainNode& n) {
  return element_step(
      n.node().type.elements(), [out = n.out(), m = n.in(0), g = n.in(1), constants = varying(n, 2),
                                 op](std::int64_t begin, std::int64_t end) {
        const float decay = constants != nullptr ? constants[0] : static_cast<float>(op.decay);
        const float gain = constants != nullptr ? constants[1] : static_cast<float>(op.gain);
        update_moment(out + begin, m + begin, g + begin, decay, gain, static_cast<int>(op.power),
                      end - begin);
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::AdamStep& op, const PlainNode& n) {
  return element_step(
      n.node().type.elements(), [out = n.out(), p = n.in(0), m = n.in(1), v = n.in(2), lr = n.in(3),
                                 steps = n.in<const std::int64_t>(4), constants = varying(n, 5),
                                 op](std::int64_t begin, std::int64_t end) {
        const double rate = *lr;
        const auto t = static_cast<double>(*steps);
        double correction1 = 1 - std::pow(op.beta1, t);
        double correction2 = 1 - std::pow(op.beta2, t);
        double epsilon = op.epsilon;
        double weight_decay = op.weight_decay;
        if (constants != nullptr) {
          correction1 = bias_correction(constants[1], t);
          correction2 = bias_correction(constants[3], t);
          epsilon = constants[4];
          weight_decay = constants[5];
        }
        adam_step(out + begin, p + begin, m + begin, v + begin,
                  static_cast<float>(rate / correction1),
                  static_cast<float>(1 / std::sqrt(correction2)), static_cast<float>(epsilon),
                  static_cast<float>(1 - rate * weight_decay), end - begin);
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::RmspropStep& op, const PlainNode& n) {
  return element_step(
      n.node().type.elements(),
      [out = n.out(), p = n.in(0), g = n.in(1), v = n.in(2), lr = n.in(3),
       constants = varying(n, 4), op](std::int64_t begin, std::int64_t end) {
        const float epsilon = constants != nullptr ? *constants : static_cast<float>(op.epsilon);
        rmsprop_step(out + begin, p + begin, g + begin, v + begin, *lr, epsilon, 1, end - begin);
      });
}

std::unique_ptr<PreparedStep> plain_step(const graph::SgdStep&, const PlainNode& n) {
  return element_step(n.node().type.elements(),
                      [out = n.out(), p = n.in(0), d = n.in(1), lr = n.in(2)](std::int64_t begin,
                                                                              std::int64_t end) {
                        scale_add(out + begin, p + begin, d + begin, -*lr, end - begin);
                      });
}

}  // namespace cosmic::target::cpu
