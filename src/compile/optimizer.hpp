// Which optimizer a training program ends with. The learning rate is not here: it is an input.
#pragma once

#include <variant>

namespace cosmic::compile {

/// Adam with bias correction. A weight decay makes it AdamW (decoupled from the gradient).
struct Adam {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

struct Rmsprop {
  double alpha = 0.99;
  double epsilon = 1e-4;
};

struct Sgd {
  double momentum = 0;
};

using Optimizer = std::variant<Adam, Rmsprop, Sgd>;

}  // namespace cosmic::compile
