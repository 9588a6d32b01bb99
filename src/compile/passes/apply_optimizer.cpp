#include <algorithm>
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
constexpr const char* kAveragePrefix = "average/";

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

/// What a state is at the end of the run.
ValueId latest(const Graph& graph, ValueId state) {
  const auto found =
      std::find_if(graph.updates.begin(), graph.updates.end(),
                   [&](const graph::StateUpdate& update) { return update.state == state; });
  return found == graph.updates.end() ? state : found->value;
}

/// Averages weights after their updates. Running statistics are averaged too: those of the last
/// weights do not belong to averaged ones. Counters stay what they are.
void build_averages(Builder& g) {
  const ValueId constants =
      g.input(kAverageInput, {DType::f32, {std::tuple_size_v<AverageConstants>}});
  const std::vector<graph::StateVariable> states = g.graph().states;
  for (const graph::StateVariable& state : states) {
    if (state.kind == StateKind::optimizer || g.type(state.value).dtype != DType::f32) {
      continue;
    }
    g.set_scope(state.name);
    g.set_stage(g.graph().node(state.value).stage);
    const ValueId average = g.state(average_name(state.name), g.type(state.value),
                                    StateKind::optimizer, state.initializer);
    g.update(average, g.add(graph::Moment{}, {average, latest(g.graph(), state.value), constants}));
  }
}

void build_updates(Builder& g, const std::vector<Update>& updates, const UpdateRule& rule) {
  const ValueId rate = g.input(kLearningRateInput, {DType::f32, {}});
  std::optional<ValueId> constants;
  if (rule.constants == Constants::inputs) {
    constants = g.input(kOptimizerInput, {DType::f32, {std::tuple_size_v<OptimizerConstants>}});
  }
  std::visit(UpdateBuilder{g, updates, rate, constants}, rule.optimizer);
  if (rule.averages == Averages::of_weights) {
    build_averages(g);
  }
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

bool is_of_all_processes(const Graph& graph) {
  return std::any_of(
      graph.outputs.begin(), graph.outputs.end(),
      [](const graph::NamedValue& output) { return output.name == kLossOfAllOutput; });
}

/// Sums over all processes come in the order in which the backward pass makes gradients, so the
/// first layers have theirs last. Updates in that order are made while the last sums are under way.
std::vector<Update> as_sums_come(const Graph& graph, std::vector<Update> updates) {
  if (is_of_all_processes(graph)) {
    std::stable_sort(updates.begin(), updates.end(),
                     [](const Update& a, const Update& b) { return a.gradient < b.gradient; });
  }
  return updates;
}

/// With the sums over all processes of what they step along.
std::vector<Update> exchanged(Builder& g, std::vector<Update> updates,
                              const graph::AllReduce& how) {
  std::vector<ValueId> tensors;
  for (const Update& update : updates) {
    tensors.push_back(update.gradient);
  }
  tensors = compile::exchanged(g, std::move(tensors), how);
  for (std::size_t i = 0; i < updates.size(); ++i) {
    updates[i].gradient = tensors[i];
  }
  return updates;
}

/// Gradients leave the program as the updates have them, or not at all.
void hand_out_gradients(Graph& graph, const std::vector<Update>& updates, Keep keep) {
  for (const Update& update : updates) {
    const auto output = std::find_if(
        graph.outputs.begin(), graph.outputs.end(),
        [&](const graph::NamedValue& one) { return one.name == gradient_name(update.name); });
    if (keep == Keep::gradients) {
      output->value = update.gradient;
    } else {
      graph.outputs.erase(output);
    }
  }
}

// --- loss scaling ---

/// What follows belongs to no layer.
void begin_loss_scale(Builder& g, ValueId scale) {
  g.set_scope(kLossScaleOutput);
  g.set_stage(g.graph().node(scale).stage);
}

/// A gradient that is a constant is 0: finite, and the same whatever the scale is.
bool is_scaled(const Graph& graph, const Update& update) {
  return graph::op_if<graph::Fill>(graph.node(update.gradient)) == nullptr;
}

/// Looks at as many as an op takes at once, then at what came out of that.
ValueId all_finite(Builder& g, std::vector<ValueId> numbers) {
  do {
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < numbers.size(); i += graph::kMostChecked) {
      const std::size_t end = std::min(i + graph::kMostChecked, numbers.size());
      results.push_back(
          g.add(graph::AllFinite{}, {numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                     numbers.begin() + static_cast<std::ptrdiff_t>(end)}));
    }
    numbers = std::move(results);
  } while (numbers.size() > 1);
  return numbers.front();
}

/// With each gradient divided by the scale.
std::vector<Update> unscaled(Builder& g, std::vector<Update> updates, ValueId scale) {
  for (Update& update : updates) {
    if (is_scaled(g.graph(), update)) {
      begin(g, update);
      update.gradient = g.add(graph::Unscale{}, {update.gradient, scale});
    }
  }
  return updates;
}

void update_loss_scale(Builder& g, const LossScaling& scaling, ValueId scale, ValueId finite) {
  begin_loss_scale(g, scale);
  const ValueId steps =
      g.state(kGoodStepsState, {DType::i64, {}}, StateKind::optimizer, Initializer::constant(0));
  graph::NextLossScale rule;
  rule.interval = scaling.growth_interval;
  const ValueId next = g.add(rule, {scale, steps, finite});
  g.update(scale, next);
  g.update(steps, g.add(graph::GoodSteps{scaling.growth_interval}, {steps, finite}));
  g.output(kLossScaleOutput, next);
}

/// Builds updates from scaled gradients: none is made unless all gradients, and the loss where the
/// program has one, are finite. All of them come after it is known. The scale itself changes either
/// way, and so does what the forward pass has observed. Returns the gradients as they were used.
std::vector<Update> build_scaled_updates(Builder& g, const std::vector<Update>& scaled,
                                         const UpdateRule& rule, const LossScaling& scaling,
                                         ValueId scale) {
  std::vector<ValueId> checked;
  for (const Update& update : scaled) {
    if (is_scaled(g.graph(), update)) {
      checked.push_back(update.gradient);
    }
  }
  if (g.graph().guard) {
    checked.push_back(*g.graph().guard);
  }
  begin_loss_scale(g, scale);
  const ValueId finite = all_finite(g, std::move(checked));
  g.output(kFiniteGradientsOutput, finite);
  std::vector<Update> updates = unscaled(g, scaled, scale);
  const std::size_t first = g.graph().updates.size();
  build_updates(g, updates, rule);
  Graph graph = g.take();
  graph.gradient_guard = finite;
  for (std::size_t i = first; i < graph.updates.size(); ++i) {
    graph.updates[i].guard = graph::Guard::gradients;
  }
  g = Builder(std::move(graph));
  update_loss_scale(g, scaling, scale, finite);
  return updates;
}

/// A batch whose loss is not a number must not spoil the state: not with its gradients, and not
/// with its statistics either.
void guard_updates(Graph& graph) {
  graph.guard = graph.output(is_of_all_processes(graph) ? kLossOfAllOutput : kLossOutput).value;
}

}  // namespace

std::string accumulator_name(const std::string& parameter) {
  return kAccumulatorPrefix + parameter;
}

std::string replica_sum_name(const std::string& parameter) {
  return accumulator_name("replicas/" + parameter);
}

std::string moment_name(const std::string& parameter, const std::string& moment) {
  return kOptimizerPrefix + parameter + "/" + moment;
}

std::string average_name(const std::string& weight) {
  return kAveragePrefix + weight;
}

std::string averaged_weight(const std::string& name) {
  return name.starts_with(kAveragePrefix) ? name.substr(std::string_view(kAveragePrefix).size())
                                          : "";
}

bool is_accumulator(const std::string& name) {
  return name.starts_with(kAccumulatorPrefix);
}

bool is_optimizer_state(const std::string& name) {
  return name.starts_with(kOptimizerPrefix) || name.starts_with(kAveragePrefix) ||
         is_accumulator(name);
}

namespace {

std::string text_of(Keep keep) {
  return keep == Keep::gradients ? "keeping gradients" : "";
}

/// Those that say something.
std::string settings_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() || part.empty() ? "" : " ") + part;
  }
  return text;
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
         (rule.constants == Constants::inputs ? " as inputs" : "") +
         (rule.averages == Averages::of_weights ? " averaging weights" : "");
}

}  // namespace

Pass apply_optimizer(const UpdateRule& rule, Keep keep, const LossScaling& scaling) {
  return {"apply-optimizer", "after the gradients exist",
          [rule, keep, scaling](Graph graph) {
            std::vector<Update> updates = as_sums_come(graph, gradient_updates(graph));
            guard_updates(graph);
            Builder g(std::move(graph));
            if (scaling.is_on()) {
              updates = build_scaled_updates(g, updates, rule, scaling,
                                             g.graph().state(kLossScaleState).value);
            } else {
              build_updates(g, updates, rule);
            }
            graph = g.take();
            hand_out_gradients(graph, updates, keep);
            return graph;
          },
          Required::yes, settings_of({text_of(rule), text_of(keep), text_of(scaling)})};
}

Pass accumulate_gradients(const graph::AllReduce& how, Keep keep, const LossScaling& scaling) {
  return {"accumulate-gradients", "after the gradients exist",
          [how, keep, scaling](Graph graph) {
            const std::vector<Update> updates = gradient_updates(graph);
            guard_updates(graph);
            Builder g(std::move(graph));
            const bool travels = how.format != NumberFormat::f32;
            const std::vector<Update> shares = travels ? exchanged(g, updates, how) : updates;
            for (const Update& update : shares) {
              begin(g, update);
              const ValueId sum = g.state(accumulator_name(update.name), g.type(update.parameter),
                                          StateKind::optimizer, Initializer::constant(0));
              const ValueId share = travels || how.factor == 1
                                        ? update.gradient
                                        : g.add(graph::Scale{how.factor}, {update.gradient});
              g.update(sum, g.add(graph::Add{}, {sum, share}));
            }
            const std::vector<Update> kept =
                keep == Keep::gradients && scaling.is_on()
                    ? unscaled(g, updates, g.graph().state(kLossScaleState).value)
                    : updates;
            graph = g.take();
            hand_out_gradients(graph, kept, keep);
            return graph;
          },
          Required::yes,
          settings_of({"factor=" + OptimizerText::number(how.factor),
                       how.format == NumberFormat::f32 ? "" : "as " + to_string(how.format),
                       text_of(keep), text_of(scaling)})};
}

Graph replica_sum(const Graph& like, NumberFormat exchange) {
  Builder g;
  std::vector<Update> of_replicas;
  std::vector<Update> of_batches;
  for (const graph::StateVariable& state : like.states) {
    if (state.kind != StateKind::parameter) {
      continue;
    }
    const graph::TensorType& type = like.type(state.value);
    g.set_scope(state.name);
    g.set_stage(like.node(state.value).stage);
    const auto sum = [&](const std::string& name) {
      return g.state(name, type, StateKind::optimizer, Initializer::constant(0));
    };
    const ValueId batches = sum(accumulator_name(state.name));
    const ValueId replicas = sum(replica_sum_name(state.name));
    of_batches.push_back({state.name, batches, batches});
    of_replicas.push_back({state.name, replicas, replicas});
  }
  const std::vector<Update> shares =
      exchange == NumberFormat::f32 ? of_batches : exchanged(g, of_batches, {1, exchange});
  for (std::size_t i = 0; i < shares.size(); ++i) {
    begin(g, of_replicas[i]);
    const ValueId replicas = of_replicas[i].parameter;
    g.update(replicas, g.add(graph::Add{}, {replicas, shares[i].gradient}));
    g.update(of_batches[i].parameter, g.fill(g.type(replicas), 0));
  }
  return g.take();
}

Graph accumulated_update(const Graph& like, const UpdateRule& rule, const LossScaling& scaling,
                         Sums sums, AddedUpBy added_up_by, NumberFormat exchange) {
  Builder g;
  std::vector<Update> updates;
  for (const graph::StateVariable& state : like.states) {
    const graph::TensorType& type = like.type(state.value);
    g.set_stage(like.node(state.value).stage);
    if (state.kind == StateKind::buffer && type.dtype == DType::f32 &&
        rule.averages == Averages::of_weights) {
      g.state(state.name, type, state.kind, state.initializer);  // what is averaged is read
    }
    if (state.kind != StateKind::parameter) {
      continue;
    }
    const ValueId parameter = g.state(state.name, type, state.kind, state.initializer);
    const ValueId sum = g.state(added_up_by == AddedUpBy::batch ? accumulator_name(state.name)
                                                                : replica_sum_name(state.name),
                                type, StateKind::optimizer, Initializer::constant(0));
    updates.push_back({state.name, parameter, sum});
  }
  const std::vector<Update> own = updates;
  if (sums == Sums::of_all_processes || exchange != NumberFormat::f32) {
    updates = exchanged(g, own, {1, exchange});
  }
  if (scaling.is_on()) {
    const ValueId scale = g.state(kLossScaleState, {DType::f32, {}}, StateKind::optimizer,
                                  Initializer::constant(static_cast<double>(scaling.initial)));
    build_scaled_updates(g, updates, rule, scaling, scale);
  } else {
    build_updates(g, updates, rule);
  }
  for (const Update& update : own) {
    begin(g, update);
    g.update(update.gradient, g.fill(g.type(update.gradient), 0));
  }
  return g.take();
}

}  // namespace cosmic::compile
