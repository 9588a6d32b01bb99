#include "target/cpu/plain_step_kinds.hpp"

#include <cmath>
#include "target/cpu/kernels/row_kernels.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<Step> plain_step(const graph::Moment& op, const PlainNode& n) {
  return elementwise(n.node().type.elements(), [out = n.out(), m = n.in(0), g = n.in(1), op](
                                                   std::int64_t begin, std::int64_t end) {
    update_moment(out + begin, m + begin, g + begin, static_cast<float>(op.decay),
                  static_cast<float>(op.gain), static_cast<int>(op.power), end - begin);
  });
}

std::unique_ptr<Step> plain_step(const graph::AdamStep& op, const PlainNode& n) {
  return elementwise(
      n.node().type.elements(),
      [out = n.out(), p = n.in(0), m = n.in(1), v = n.in(2), lr = n.in(3),
       steps = n.in<const std::int64_t>(4), op](std::int64_t begin, std::int64_t end) {
        const double rate = *lr;
        const auto t = static_cast<double>(*steps);
        adam_step(out + begin, p + begin, m + begin, v + begin,
                  static_cast<float>(rate / (1 - std::pow(op.beta1, t))),
                  static_cast<float>(1 / std::sqrt(1 - std::pow(op.beta2, t))),
                  static_cast<float>(op.epsilon), static_cast<float>(1 - rate * op.weight_decay),
                  end - begin);
      });
}

std::unique_ptr<Step> plain_step(const graph::RmspropStep& op, const PlainNode& n) {
  return elementwise(n.node().type.elements(),
                     [out = n.out(), p = n.in(0), g = n.in(1), v = n.in(2), lr = n.in(3), op](
                         std::int64_t begin, std::int64_t end) {
                       rmsprop_step(out + begin, p + begin, g + begin, v + begin, *lr,
                                    static_cast<float>(op.epsilon), 1, end - begin);
                     });
}

std::unique_ptr<Step> plain_step(const graph::SgdStep&, const PlainNode& n) {
  return elementwise(n.node().type.elements(),
                     [out = n.out(), p = n.in(0), d = n.in(1), lr = n.in(2)](std::int64_t begin,
                                                                             std::int64_t end) {
                       scale_add(out + begin, p + begin, d + begin, -*lr, end - begin);
                     });
}

}  // namespace cosmic::target::cpu
