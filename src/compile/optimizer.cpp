#include "compile/optimizer.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace cosmic::compile {
namespace {

/// The kind of an optimizer and its numbers, by name.
struct Description {
  std::string kind;
  std::vector<std::pair<std::string, double>> numbers;
};

struct Describe {
  Description operator()(const Adam& adam) const {
    return {"Adam",
            {{"beta1", adam.beta1},
             {"beta2", adam.beta2},
             {"epsilon", adam.epsilon},
             {"weight_decay", adam.weight_decay}}};
  }
  Description operator()(const Rmsprop& rmsprop) const {
    return {"Rmsprop", {{"alpha", rmsprop.alpha}, {"epsilon", rmsprop.epsilon}}};
  }
  Description operator()(const Sgd& sgd) const { return {"Sgd", {{"momentum", sgd.momentum}}}; }
};

struct ConstantsOf {
  OptimizerConstants operator()(const Adam& adam) const {
    return {static_cast<float>(adam.beta1),   static_cast<float>(1 - adam.beta1),
            static_cast<float>(adam.beta2),   static_cast<float>(1 - adam.beta2),
            static_cast<float>(adam.epsilon), static_cast<float>(adam.weight_decay)};
  }
  OptimizerConstants operator()(const Rmsprop& rmsprop) const {
    return {static_cast<float>(rmsprop.alpha), static_cast<float>(1 - rmsprop.alpha),
            static_cast<float>(rmsprop.epsilon)};
  }
  OptimizerConstants operator()(const Sgd& sgd) const {
    return {static_cast<float>(sgd.momentum), 1};
  }
};

}  // namespace

OptimizerConstants constants_of(const Optimizer& optimizer) {
  return std::visit(ConstantsOf{}, optimizer);
}

AverageConstants average_constants(double decay) {
  return {static_cast<float>(decay), static_cast<float>(1 - decay)};
}

void require_same_kind(const Optimizer& compiled, const Optimizer& wanted) {
  COSMIC_REQUIRE(UserError, compiled.index() == wanted.index(),
                 "the program was compiled with "
                     << std::visit(Describe{}, compiled).kind << ", it cannot continue with "
                     << std::visit(Describe{}, wanted).kind
                     << " (another optimizer means another program with other moments); make a new "
                        "model with it and load the weights of this one");
  const Sgd* const sgd = std::get_if<Sgd>(&compiled);
  COSMIC_REQUIRE(UserError,
                 sgd == nullptr || sgd->momentum != 0 || std::get<Sgd>(wanted).momentum == 0,
                 "momentum cannot become " << std::get<Sgd>(wanted).momentum
                                           << " in a program that was compiled with none (it keeps "
                                              "no moments); compile with a momentum");
}

void require_same_constants(const Optimizer& compiled, const Optimizer& wanted) {
  require_same_kind(compiled, wanted);
  const Description before = std::visit(Describe{}, compiled);
  const Description after = std::visit(Describe{}, wanted);
  for (std::size_t i = 0; i < before.numbers.size(); ++i) {
    COSMIC_REQUIRE(UserError, before.numbers[i] == after.numbers[i],
                   before.numbers[i].first << " of " << before.kind << " cannot change from "
                                           << before.numbers[i].second << " to "
                                           << after.numbers[i].second
                                           << " (it is a constant of the compiled program); set "
                                              "Options::variable_optimizer before compiling");
  }
}

}  // namespace cosmic::compile
