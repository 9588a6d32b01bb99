// A training step whose loss is scaled: what is multiplied, what is divided, and what waits for
// what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/graph_values.hpp"
#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "model/layers.hpp"
#include "model/segmentation_loss.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Guard;
using graph::Node;
using graph::op_if;
using graph::ValueId;

constexpr LossScaling kScaling{LossScaling::Kind::dynamic, 1024, 3};

/// `layers` convolutions, each with a normalisation behind it, and a loss.
Graph network(int layers = 2) {
  Builder g;
  ValueId x = g.input("image", {graph::DType::f32, {3, 2, 6, 8}});
  const ValueId labels = g.input("label", {graph::DType::u8, {1, 3, 6, 8}});
  for (int i = 0; i < layers; ++i) {
    const Builder::Scope scope(g, "layer" + std::to_string(i));
    x = model::convolution(g, "conv",
                           {.from = 2,
                            .to = i + 1 == layers ? 3 : 2,
                            .kernel = {3, 3},
                            .window = {.stride = {1, 1, 1}, .pad = {0, 1, 1}}})(g, x);
    x = g.add(graph::LeakyRelu{}, {x});
  }
  const ValueId seen = g.state("seen", {graph::DType::i64, {}}, graph::StateKind::buffer,
                               graph::Initializer::constant(0));
  g.update(seen, g.add(graph::Increment{1}, {seen}));
  g.output(kLossOutput, model::SegmentationLoss(model::BalanceScheme::none).loss(g, x, labels));
  return g.take();
}

Graph step_of(const LossScaling& scaling, const GradientUse& use = {}, int layers = 2,
              const Optimizer& optimizer = Adam{}) {
  std::vector<PassReport> report;
  return run_pipeline(
      network(layers),
      training_passes({}, {optimizer}, use, {.format = NumberFormat::f32, .loss_scaling = scaling}),
      {}, report);
}

std::string name_of_update(const Graph& graph, const graph::StateUpdate& update) {
  return graph.node(update.state).name;
}

TEST(LossScaling, makes_weights_moments_and_counts_wait_for_gradients_and_nothing_else) {
  const Graph step = step_of(kScaling);
  ASSERT_TRUE(step.gradient_guard.has_value());
  EXPECT_EQ(*step.gradient_guard, step.output(kFiniteGradientsOutput).value);
  std::size_t waiting = 0;
  for (const graph::StateUpdate& update : step.updates) {
    const std::string name = name_of_update(step, update);
    const bool free = name == "seen" || name == kLossScaleState || name == kGoodStepsState;
    EXPECT_EQ(update.guard, free ? Guard::loss : Guard::gradients) << name;
    waiting += free ? 0 : 1;
  }
  EXPECT_EQ(waiting, 4U * 3U + 1U);  // kernels and biases with two moments each, and the count
}

TEST(LossScaling, looks_at_every_gradient_and_at_the_loss_before_anything_is_updated) {
  constexpr int kLayers = 20;  // more tensors than an op looks at
  const Graph step = step_of(kScaling, {}, kLayers);
  std::vector<bool> checked(step.size(), false);
  checked[step.gradient_guard->index()] = true;
  std::size_t tensors = 0;
  for (std::size_t i = step.size(); i-- > 0;) {
    const Node& node = step.nodes()[i];
    if (op_if<graph::AllFinite>(node) != nullptr && checked[i]) {
      for (const ValueId operand : node.operands) {
        checked[operand.index()] = true;
        tensors += op_if<graph::AllFinite>(step.node(operand)) == nullptr ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(tensors, 2U * kLayers + 1U);
  EXPECT_TRUE(checked[step.output(kLossOutput).value.index()]);
  for_each_node(step, [&](ValueId id, const Node& node) {
    if (op_if<graph::Unscale>(node) != nullptr) {
      EXPECT_TRUE(checked[node.operands[0].index()]) << node.name;
      EXPECT_LT(*step.gradient_guard, id) << node.name;
    }
  });
}

TEST(LossScaling, updates_what_waits_for_gradients_in_place) {
  const Plan plan = plan_memory(step_of(kScaling), {});
  verify(plan);
  for (const graph::StateUpdate& update : plan.graph.updates) {
    if (update.guard == Guard::gradients) {
      EXPECT_EQ(plan.overwrites[update.value.index()], update.state)
          << name_of_update(plan.graph, update);
    }
  }
}

TEST(LossScaling, that_would_overwrite_a_state_before_all_gradients_are_known_is_refused) {
  Plan plan = plan_memory(step_of(kScaling), {});
  for (graph::StateUpdate& update : plan.graph.updates) {
    if (name_of_update(plan.graph, update) == "seen") {
      // Computed in the forward pass: it cannot be known yet.
      EXPECT_EQ(plan.overwrites[update.value.index()], std::nullopt);
      update.guard = Guard::gradients;
      plan.overwrites[update.value.index()] = update.state;
      plan.placements[update.value.index()].reset();
    }
  }
  EXPECT_THAT([&] { verify(plan); }, testing::ThrowsMessage<InternalError>(testing::HasSubstr(
                                         "not known yet whether updates count")));
}

/// The numbers drawn for states by name include the scale, which is no power of two here.
TEST(LossScaling, changes_no_update_that_is_made) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{Adam{}, Rmsprop{}, Sgd{.momentum = 0.9}, Sgd{}}) {
    const auto plain = results(step_of({}, {.keep = Keep::gradients}, 2, optimizer));
    const auto scaled = results(step_of(kScaling, {.keep = Keep::gradients}, 2, optimizer));
    for (const auto& [name, numbers] : plain) {
      ASSERT_TRUE(scaled.contains(name)) << name;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_NEAR(scaled.at(name)[i], numbers[i], 1e-9 * (1 + std::abs(numbers[i]))) << name;
      }
    }
  }
}

TEST(LossScaling, of_accumulated_gradients_adds_up_scaled_ones_and_divides_when_it_updates) {
  const Graph step =
      step_of(kScaling, {.kind = GradientUse::Kind::accumulate, .keep = Keep::gradients});
  EXPECT_FALSE(step.gradient_guard.has_value());
  const auto plain = results(step_of({}, {.keep = Keep::gradients}));
  const auto scaled = results(step);
  const double scale = draw({graph::DType::f32, {}}, kLossScaleState).data[0];
  const std::string sum = accumulator_name("layer0.conv.weight");
  const double before = draw({graph::DType::f32, {2, 2, 3, 3}}, sum).data[0];
  const double gradient = plain.at("gradient/layer0.conv.weight")[0];
  EXPECT_NEAR(scaled.at("gradient/layer0.conv.weight")[0], gradient, 1e-12);
  EXPECT_NEAR(scaled.at("new " + sum)[0], before + scale * gradient, 1e-12);

  const Graph update = accumulated_update(network(), {Sgd{}}, kScaling);
  graph::verify(update);
  const auto updated = results(update);
  const double weight = draw({graph::DType::f32, {2, 2, 3, 3}}, "layer0.conv.weight").data[0];
  const double rate = draw({graph::DType::f32, {}}, kLearningRateInput).data[0];
  EXPECT_NEAR(updated.at("new layer0.conv.weight")[0], weight - rate * before / scale, 1e-12);
  EXPECT_EQ(updated.at("new " + sum)[0], 0);
  for (const graph::StateUpdate& one : update.updates) {
    const std::string name = name_of_update(update, one);
    EXPECT_EQ(one.guard, name.starts_with("layer") ? Guard::gradients : Guard::loss) << name;
  }
}

TEST(LossScaling, does_not_make_the_backward_pass_part_of_what_is_computed_again) {
  const Graph plain = recompute_between_checkpoints({"layer1.conv"}).run(step_of({}, {}, 4));
  const Graph scaled = recompute_between_checkpoints({"layer1.conv"}).run(step_of(kScaling, {}, 4));
  graph::verify(scaled);
  EXPECT_GT(count<graph::Conv>(plain), count<graph::Conv>(step_of({}, {}, 4)));
  EXPECT_EQ(count<graph::Conv>(scaled), count<graph::Conv>(plain));
  EXPECT_EQ(count<graph::ConvKernelGradient>(scaled), count<graph::ConvKernelGradient>(plain));
}

TEST(LossScaling, is_part_of_what_a_kept_program_is_known_by) {
  const auto settings = [](const LossScaling& scaling) {
    std::vector<std::string> texts;
    for (const Pass& pass : training_passes({}, {Adam{}}, {}, {.loss_scaling = scaling})) {
      texts.push_back(pass.settings);
    }
    return texts;
  };
  EXPECT_NE(settings({}), settings(kScaling));
  LossScaling other = kScaling;
  other.growth_interval = 4;
  EXPECT_NE(settings(other), settings(kScaling));
  other = kScaling;
  other.initial = 2048;
  EXPECT_NE(settings(other), settings(kScaling));
}

}  // namespace
}  // namespace cosmic::compile
