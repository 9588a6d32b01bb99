#include <array>
#include <charconv>

#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Initializer;
using graph::StateKind;
using graph::ValueId;

// Names of a network have no '/'.
constexpr const char* kOptimizerPrefix = "optimizer/";
constexpr const char* kAccumulatorPrefix = "accumulator/";

/// A parameter and the value to step along.
struct Update {
  std::string name;
  ValueId parameter;
  ValueId gradient;
};

/// What follows belongs to the parameter's layer.
void begin(Builder& g, const Update& update) {
  g.set_scope(update.name);
  g.set_stage(g.graph().node(update.parameter).stage);
}

/// Builds the updates of one optimizer; one overload per kind, so a new kind cannot be forgotten.
struct UpdateBuilder {
  Builder& g;
  const std::vector<Update>& updates;
  ValueId rate;
  std::optional<ValueId> constants;  ///< if they are inputs

  void operator()(const Adam& adam) const {
    const ValueId count =
        g.state(kStepState, {DType::i64, {}}, StateKind::optimizer, Initializer::constant(0));
    const ValueId counted = g.add(graph::Increment{1}, {count});
    g.update(count, counted);
    const std::optional<ValueId> first = part_of_constants(0, 2);
    const std::optional<ValueId> second = part_of_constants(2, 4);
    for (const Update& update : updates) {
      begin(g, update);
      const ValueId m = moment(update, "exp_avg", {adam.beta1, 1 - adam.beta1, 1}, first);
      const ValueId v = moment(update, "exp_avg_sq", {adam.beta2, 1 - adam.beta2, 2}, second);
      g.update(update.parameter,
               g.add(graph::AdamStep{adam.beta1, adam.beta2, adam.epsilon, adam.weight_decay},
                     with(constants, {update.parameter, m, v, rate, counted})));
    }
  }

  void operator()(const Rmsprop& rmsprop) const {
    const std::optional<ValueId> decay = part_of_constants(0, 2);
    const std::optional<ValueId> epsilon = part_of_constants(2, 3);
    for (const Update& update : updates) {
      begin(g, update);
      const ValueId square =
          moment(update, "square_avg", {rmsprop.alpha, 1 - rmsprop.alpha, 2}, decay);
      g.update(update.parameter,
               g.add(graph::RmspropStep{rmsprop.epsilon},
                     with(epsilon, {update.parameter, update.gradient, square, rate})));
    }
  }

  void operator()(const Sgd& sgd) const {
    const std::optional<ValueId> decay = part_of_constants(0, 2);
    for (const Update& update : updates) {
      begin(g, update);
      const ValueId direction =
          sgd.momentum == 0 ? update.gradient
                            : moment(update, "momentum_buffer", {sgd.momentum, 1, 1}, decay);
      g.update(update.parameter, g.add(graph::SgdStep{}, {update.parameter, direction, rate}));
    }
  }

 private:
  std::optional<ValueId> part_of_constants(std::int64_t from, std::int64_t to) const {
    return constants ? std::optional(g.add(graph::Slice{0, from, to}, {*constants})) : std::nullopt;
  }

  static std::vector<ValueId> with(const std::optional<ValueId>& last,
                                   std::vector<ValueId> operands) {
    if (last) {
      operands.push_back(*last);
    }
    return operands;
  }

  ValueId moment(const Update& update, const std::string& which, const graph::Moment& rule,
                 const std::optional<ValueId>& decay) const {
    const ValueId state = g.state(moment_name(update.name, which), g.type(update.parameter),
                                  StateKind::optimizer, Initializer::constant(0));
    const ValueId value = g.add(rule, with(decay, {state, update.gradient}));
    g.update(state, value);
    return value;
  }
};

void build_updates(Builder& g, const std::vector<Update>& updates, const UpdateRule& rule) {
  const ValueId rate = g.input(kLearningRateInput, {DType::f32, {}});
  std::optional<ValueId> constants;
  if (rule.constants == Constants::inputs) {
    constants = g.input(kOptimizerInput, {DType::f32, {std::tuple_size_v<OptimizerConstants>}});
  }
  std::visit(UpdateBuilder{g, updates, rate, constants}, rule.optimizer);
}

std::vector<Update> gradient_updates(const Graph& graph) {
  std::vector<Update> updates;
  for (const graph::StateVariable& state : graph.states) {
    if (state.kind == StateKind::parameter) {
      updates.push_back({state.name, state.value, graph.output(gradient_name(state.name)).value});
    }
  }
  return updates;
}

void drop_gradient_outputs(Graph& graph, const std::vector<Update>& updates, Keep keep) {
  if (keep == Keep::gradients) {
    return;
  }
  for (const Update& update : updates) {
    std::erase_if(graph.outputs, [&](const graph::NamedValue& output) {
      return output.name == gradient_name(update.name);
    });
  }
}

/// A batch whose loss is not a number must not spoil the state: not with its gradients, and not
/// with its statistics either.
void guard_updates(Graph& graph) {
  graph.guard = graph.output(kLossOutput).value;
}

}  // namespace

std::string accumulator_name(const std::string& parameter) {
  return kAccumulatorPrefix + parameter;
}

std::string moment_name(const std::string& parameter, const std::string& moment) {
  return kOptimizerPrefix + parameter + "/" + moment;
}

bool is_accumulator(const std::string& name) {
  return name.starts_with(kAccumulatorPrefix);
}

bool is_optimizer_state(const std::string& name) {
  return name.starts_with(kOptimizerPrefix) || is_accumulator(name);
}

namespace {

std::string text_of(Keep keep) {
  return keep == Keep::gradients ? " keeping gradients" : "";
}

/// Says every member: taking them apart by number stops compiling where one is added.
struct OptimizerText {
  std::string operator()(const Adam& adam) const {
    const auto& [beta1, beta2, epsilon, weight_decay] = adam;
    return "adam beta1=" + number(beta1) + " beta2=" + number(beta2) +
           " epsilon=" + number(epsilon) + " weight_decay=" + number(weight_decay);
  }
  std::string operator()(const Rmsprop& rmsprop) const {
    const auto& [alpha, epsilon] = rmsprop;
    return "rmsprop alpha=" + number(alpha) + " epsilon=" + number(epsilon);
  }
  std::string operator()(const Sgd& sgd) const {
    const auto& [momentum] = sgd;
    return "sgd momentum=" + number(momentum);
  }

  static std::string number(double value) {
    std::array<char, 32> text{};  // the longest shortest double has 24 characters
    return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
  }
};

std::string text_of(const UpdateRule& rule) {
  return std::visit(OptimizerText{}, rule.optimizer) +
         (rule.constants == Constants::inputs ? " as inputs" : "");
}

}  // namespace

Pass apply_optimizer(const UpdateRule& rule, Keep keep) {
  return {"apply-optimizer", "after the gradients exist",
          [rule, keep](Graph graph) {
            const std::vector<Update> updates = gradient_updates(graph);
            drop_gradient_outputs(graph, updates, keep);
            guard_updates(graph);
            Builder g(std::move(graph));
            build_updates(g, updates, rule);
            return g.take();
          },
          Required::yes, text_of(rule) + text_of(keep)};
}

Pass accumulate_gradients(double factor, Keep keep) {
  return {"accumulate-gradients", "after the gradients exist",
          [factor, keep](Graph graph) {
            const std::vector<Update> updates = gradient_updates(graph);
            drop_gradient_outputs(graph, updates, keep);
            guard_updates(graph);
            Builder g(std::move(graph));
            for (const Update& update : updates) {
              begin(g, update);
              const ValueId sum = g.state(accumulator_name(update.name), g.type(update.parameter),
                                          StateKind::optimizer, Initializer::constant(0));
              const ValueId share =
                  factor == 1 ? update.gradient : g.add(graph::Scale{factor}, {update.gradient});
              g.update(sum, g.add(graph::Add{}, {sum, share}));
            }
            return g.take();
          },
          Required::yes, "factor=" + OptimizerText::number(factor) + text_of(keep)};
}

Graph accumulated_update(const Graph& like, const UpdateRule& rule) {
  Builder g;
  std::vector<Update> updates;
  for (const graph::StateVariable& state : like.states) {
    if (state.kind != StateKind::parameter) {
      continue;
    }
    const graph::TensorType& type = like.type(state.value);
    g.set_stage(like.node(state.value).stage);
    const ValueId parameter = g.state(state.name, type, state.kind, state.initializer);
    const ValueId sum =
        g.state(accumulator_name(state.name), type, StateKind::optimizer, Initializer::constant(0));
    updates.push_back({state.name, parameter, sum});
  }
  build_updates(g, updates, rule);
  for (const Update& update : updates) {
    begin(g, update);
    g.update(update.gradient, g.fill(g.type(update.gradient), 0));
  }
  return g.take();
}

}  // namespace cosmic::compile
