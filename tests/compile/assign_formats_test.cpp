// Which values of a program are kept in a narrow format, and which are not.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/pipeline.hpp"
#include "graph/builder.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

constexpr Precision kBfloat16{.format = NumberFormat::bf16};
constexpr Precision kPure{.format = NumberFormat::bf16, .weights = Precision::Weights::pure};

Graph small_network() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 6;
  const model::UResNet network(options);
  const model::SegmentationLoss loss;
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {1, 3, 16, 16}});
  const ValueId label = g.input("label", {graph::DType::u8, {1, 3, 16, 16}});
  g.output(kLossOutput, loss.loss(g, network.logits(g, image, model::Phase::training), label));
  return g.take();
}

Graph training_step(const Precision& precision) {
  std::vector<PassReport> report;
  return run_pipeline(small_network(), training_passes({}, {Adam{}}, {}, precision), {}, report);
}

/// Calls check(node) for every node whose op is a Wanted, and expects there to be some.
template <class Wanted, class Check>
void for_each(const Graph& graph, const Check& check) {
  int found = 0;
  for_each_node(graph, [&](ValueId, const Node& node) {
    if (op_if<Wanted>(node) != nullptr) {
      ++found;
      check(node);
    }
  });
  EXPECT_GT(found, 0) << "no " << Wanted::name;
}

template <class Wanted>
void expect_format(const Graph& graph, NumberFormat format) {
  for_each<Wanted>(graph, [&](const Node& node) {
    EXPECT_EQ(node.format, format) << Wanted::name << " at " << node.name;
  });
}

/// The value that the loss reads.
const Node& logits_of(const Graph& graph) {
  ValueId logits;
  for_each<graph::SegmentationSums>(graph, [&](const Node& node) { logits = node.operands[0]; });
  return graph.node(logits);
}

TEST(AssignFormats, activations_and_their_gradients_are_narrow) {
  const Graph step = training_step(kBfloat16);
  expect_format<graph::ChannelAffine>(step, NumberFormat::bf16);
  expect_format<graph::LeakyRelu>(step, NumberFormat::bf16);
  expect_format<graph::LeakyReluGradient>(step, NumberFormat::bf16);
  expect_format<graph::ConvTranspose>(step, NumberFormat::bf16);
  expect_format<graph::SegmentationSumsGradient>(step, NumberFormat::bf16);
  EXPECT_EQ(step.node(step.inputs[0].value).format, NumberFormat::bf16);
}

TEST(AssignFormats, sums_coefficients_and_updates_are_not) {
  const Graph step = training_step(kBfloat16);
  expect_format<graph::Statistics>(step, NumberFormat::f32);
  expect_format<graph::NormCoefficients>(step, NumberFormat::f32);
  expect_format<graph::ChannelProducts>(step, NumberFormat::f32);
  expect_format<graph::SegmentationSums>(step, NumberFormat::f32);
  expect_format<graph::ConvKernelGradient>(step, NumberFormat::f32);
  expect_format<graph::AdamStep>(step, NumberFormat::f32);
  expect_format<graph::Moment>(step, NumberFormat::f32);
  expect_format<graph::RunningUpdate>(step, NumberFormat::f32);
  expect_format<graph::State>(step, NumberFormat::f32);
}

TEST(AssignFormats, logits_are_narrow_in_a_pure_program_only) {
  EXPECT_EQ(logits_of(training_step(kBfloat16)).format, NumberFormat::f32);
  EXPECT_EQ(logits_of(training_step(kPure)).format, NumberFormat::bf16);
}

TEST(AssignFormats, a_pure_program_keeps_states_and_their_updates_narrow) {
  const Graph step = training_step(kPure);
  for (const graph::StateVariable& state : step.states) {
    const bool is_float = step.type(state.value).dtype == graph::DType::f32;
    EXPECT_EQ(step.node(state.value).format, is_float ? NumberFormat::bf16 : NumberFormat::f32)
        << state.name;
  }
  expect_format<graph::AdamStep>(step, NumberFormat::bf16);
  expect_format<graph::Moment>(step, NumberFormat::bf16);
  expect_format<graph::RunningUpdate>(step, NumberFormat::bf16);
  expect_format<graph::ConvKernelGradient>(step, NumberFormat::bf16);
  expect_format<graph::Statistics>(step, NumberFormat::f32);
}

TEST(AssignFormats, convolutions_read_rounded_weights_and_optimizers_do_not) {
  const Graph step = training_step(kBfloat16);
  for_each<graph::Conv>(step, [&](const Node& node) {
    EXPECT_EQ(step.node(node.operands[1]).format, NumberFormat::bf16) << node.name;
  });
  for_each<graph::AdamStep>(step, [&](const Node& node) {
    EXPECT_NE(op_if<graph::State>(step.node(node.operands[0])), nullptr) << node.name;
  });
}

/// A copy that lived from the forward to the backward pass would cost the memory of all weights.
TEST(AssignFormats, a_copy_of_a_weight_has_one_reader) {
  const Graph step = training_step(kBfloat16);
  const auto readers = readers_of(step);
  for_each_node(step, [&](ValueId id, const Node& node) {
    if (op_if<graph::Copy>(node) != nullptr) {
      EXPECT_EQ(readers[id.index()].size(), 1U) << node.name;
    }
  });
}

TEST(AssignFormats, float16_leaves_gradients_in_float32) {
  const Graph step = training_step({.format = NumberFormat::f16});
  expect_format<graph::LeakyRelu>(step, NumberFormat::f16);
  expect_format<graph::LeakyReluGradient>(step, NumberFormat::f32);
  expect_format<graph::SegmentationSumsGradient>(step, NumberFormat::f32);
}

TEST(AssignFormats, float16_with_a_scaled_loss_has_float16_gradients_and_float32_updates) {
  const Graph step =
      training_step({.format = NumberFormat::f16, .loss_scaling = {LossScaling::Kind::dynamic}});
  expect_format<graph::LeakyRelu>(step, NumberFormat::f16);
  expect_format<graph::LeakyReluGradient>(step, NumberFormat::f16);
  expect_format<graph::SegmentationSumsGradient>(step, NumberFormat::f16);
  expect_format<graph::ConvKernelGradient>(step, NumberFormat::f32);
  expect_format<graph::Unscale>(step, NumberFormat::f32);
  expect_format<graph::AllFinite>(step, NumberFormat::f32);
  expect_format<graph::NextLossScale>(step, NumberFormat::f32);
  expect_format<graph::AdamStep>(step, NumberFormat::f32);
}

TEST(AssignFormats, tf32_is_said_to_the_target_and_copies_no_weights) {
  const Graph plain = training_step({});
  const Graph step = training_step({.tf32 = true});
  EXPECT_FALSE(plain.numerics.tf32);
  EXPECT_TRUE(step.numerics.tf32);
  EXPECT_EQ(step.size(), plain.size());
}

TEST(AssignFormats, stochastic_rounding_counts_runs_in_a_state) {
  const Graph step =
      training_step({.format = NumberFormat::bf16, .rounding = Rounding::stochastic, .seed = 9});
  EXPECT_EQ(step.numerics.rounding, Rounding::stochastic);
  EXPECT_EQ(step.numerics.seed, 9U);
  ASSERT_TRUE(step.numerics.runs.has_value());
  EXPECT_EQ(*step.numerics.runs, step.state(kRunsState).value);
  EXPECT_TRUE(is_optimizer_state(kRunsState));
}

TEST(AssignFormats, a_program_that_updates_nothing_rounds_to_nearest) {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {1, 8, 4, 4}});
  g.output("y", g.add(graph::LeakyRelu{}, {image}));
  std::vector<PassReport> report;
  const Graph program = run_pipeline(
      g.take(),
      inference_passes({}, {.format = NumberFormat::bf16, .rounding = Rounding::stochastic}), {},
      report);
  EXPECT_EQ(program.numerics.rounding, Rounding::nearest);
  EXPECT_FALSE(program.numerics.runs.has_value());
}

TEST(AssignFormats, a_float32_program_has_no_such_pass) {
  const std::vector<Pass> passes = training_passes({}, {Adam{}}, {});
  EXPECT_TRUE(std::none_of(passes.begin(), passes.end(),
                           [](const Pass& pass) { return pass.name == "assign-formats"; }));
}

TEST(Cost, counts_the_bytes_of_the_format) {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {1, 8, 4, 4}});
  const ValueId y = g.add(graph::LeakyRelu{}, {image});
  Graph graph = g.take();
  EXPECT_EQ(cost_of(graph, y).bytes, 2 * 128 * 4);
  graph.node(image).format = NumberFormat::bf16;
  graph.node(y).format = NumberFormat::bf16;
  EXPECT_EQ(cost_of(graph, y).bytes, 2 * 128 * 2);
}

}  // namespace
}  // namespace cosmic::compile
