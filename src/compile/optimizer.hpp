// Which optimizer a training program ends with. The learning rate is not here: it is an input. The
// other numbers are constants of the program, or inputs too.
#pragma once

#include <array>
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

/// Whether the numbers of an optimizer are written into the program or handed to each run.
enum class Constants { fixed, inputs };

/// Whether a program also keeps a moving average of each weight, for evaluation.
enum class Averages { none, of_weights };

struct UpdateRule {
  Optimizer optimizer;
  Constants constants = Constants::fixed;
  Averages averages = Averages::none;
};

/// What is handed to a run, whatever the optimizer; unused ones are zero. A decay comes with what
/// is missing to one, which as a float would lose half its digits.
///
///   Adam     beta1, 1 - beta1, beta2, 1 - beta2, epsilon, weight decay
///   Rmsprop  alpha, 1 - alpha, epsilon
///   Sgd      momentum, 1
using OptimizerConstants = std::array<float, 6>;

OptimizerConstants constants_of(const Optimizer& optimizer);

/// What a run of a program that keeps averages is handed: their decay, and what is missing to one.
using AverageConstants = std::array<float, 2>;

AverageConstants average_constants(double decay);

/// Throws UserError unless a program that ends with `compiled`, its constants being inputs, can end
/// with `wanted` instead.
void require_same_kind(const Optimizer& compiled, const Optimizer& wanted);
/// The same for a program whose constants are fixed; names the first that differs.
void require_same_constants(const Optimizer& compiled, const Optimizer& wanted);

}  // namespace cosmic::compile
