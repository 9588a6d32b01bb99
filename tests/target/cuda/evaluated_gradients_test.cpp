// What is evaluated once instead of by every kernel that reads it: gradients by the kernel gradient
// that comes first, activations by the convolution before them. And what is not stored because its
// readers evaluate it.
#include "target/cuda/evaluated_gradients.hpp"

#include <gtest/gtest.h>

#include "compile/optimizer.hpp"
#include "compile/pipeline.hpp"
#include "graph/builder.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"

namespace cosmic::target::cuda {
namespace {

using graph::op_if;
using graph::ValueId;

model::UResNetOptions small_network() {
  model::UResNetOptions options;
  options.n_initial_filters = 8;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 8;
  return options;
}

compile::Plan plan_of(model::Phase phase, const compile::Precision& precision,
                      const model::UResNetOptions& network = small_network()) {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {1, 3, 32, 64}});
  const ValueId logits = model::UResNet(network).logits(g, image, phase);
  const auto target = make_cuda_target(host_driver(std::make_shared<HostMachine>()), 0);
  const compile::TargetInfo info = target->info();
  if (phase == model::Phase::evaluation) {
    g.output("logits", logits);
    return compile::make_plan(g.take(), compile::inference_passes(info, precision), info, {});
  }
  const ValueId label = g.input("label", {graph::DType::u8, {1, 3, 32, 64}});
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return compile::make_plan(
      g.take(), compile::training_passes(info, {compile::Adam{}}, {}, precision), info, {});
}

// Those of skip connections come long after the kernel gradient, and evaluate them again: with 1 x
// 1 taps no pixel is read twice.
TEST(EvaluatedGradients, are_there_for_all_image_gradients_but_those_of_skip_connections) {
  for (const NumberFormat format : {NumberFormat::f32, NumberFormat::bf16}) {
    const compile::Plan plan = plan_of(model::Phase::training, {.format = format});
    const EvaluatedGradients gradients(plan);
    int found = 0;
    for (const compile::Step& step : plan.steps.steps) {
      const graph::Node& node = plan.graph.node(step.leader.value);
      if (op_if<graph::ConvTranspose>(node) == nullptr ||
          plan.graph.node(node.operands[0]).stored) {
        continue;
      }
      const std::optional<Image> image = gradients.found_by(plan.graph, step.leader.value);
      if (!image) {
        EXPECT_EQ(plan.graph.type(node.operands[1]).dim(2), 1) << node.name;
        continue;
      }
      EXPECT_EQ(image->format, format == NumberFormat::f32 ? Format::f32 : Format::bf16);
      EXPECT_LE(image->vectors() * kBlock * size_of(image->format), gradients.bytes());
      ++found;
    }
    EXPECT_GT(found, 5);
  }
}

TEST(EvaluatedGradients, take_no_memory_where_nothing_is_differentiated) {
  EXPECT_EQ(EvaluatedGradients(plan_of(model::Phase::evaluation, {})).bytes(), 0);
}

TEST(EvaluatedGradients, are_left_by_a_step_before_the_one_that_finds_them) {
  const compile::Plan plan = plan_of(model::Phase::training, {});
  const EvaluatedGradients gradients(plan);
  std::optional<ValueId> there;
  for (const compile::Step& step : plan.steps.steps) {
    const ValueId leader = step.leader.value;
    const graph::Node& node = plan.graph.node(leader);
    const bool is_kernel_gradient = op_if<graph::ConvKernelGradient>(node) != nullptr;
    if (gradients.found_by(plan.graph, leader)) {
      EXPECT_EQ(there, node.operands[is_kernel_gradient ? 1 : 0]) << node.name;
    }
    if (gradients.left_by(plan.graph, leader)) {
      ASSERT_TRUE(is_kernel_gradient) << node.name;
      there = node.operands[1];
    }
  }
}

TEST(Activations, are_part_of_the_convolution_that_nobody_else_reads) {
  const compile::Plan plan = plan_of(model::Phase::evaluation, {.format = NumberFormat::bf16});
  int activated = 0;
  for (const compile::Step& step : plan.steps.steps) {
    const graph::Node& node = plan.graph.node(step.leader.value);
    if (const auto* conv = op_if<graph::Conv>(node); conv != nullptr && conv->slope != 1) {
      EXPECT_EQ(node.format, NumberFormat::bf16);
      ++activated;
    }
  }
  EXPECT_GT(activated, 5);
}

TEST(Activations, stay_apart_where_gradients_need_what_they_were_made_of) {
  const compile::Plan plan = plan_of(model::Phase::training, {});
  for (const graph::Node& node : plan.graph.nodes()) {
    if (const auto* conv = op_if<graph::Conv>(node)) {
      EXPECT_EQ(conv->slope, 1) << node.name;
    }
  }
}

/// The input of the next block and no more: what is activated, scaled and summed up on the way
/// there, and on the way back, is evaluated by who reads it.
TEST(StoredValues, of_a_long_chain_of_residual_blocks_are_one_for_each_block) {
  model::UResNetOptions network = small_network();
  network.blocks_final = 9;
  const compile::Plan plan =
      plan_of(model::Phase::training, {.format = NumberFormat::bf16}, network);
  int sums = 0;
  for (const graph::Node& node : plan.graph.nodes()) {
    if (!node.stored || !node.name.starts_with("final_layer") ||
        node.layout != graph::Layout::blocked) {
      continue;
    }
    EXPECT_EQ(op_if<graph::LeakyRelu>(node), nullptr) << node.name;
    EXPECT_EQ(op_if<graph::LeakyReluGradient>(node), nullptr) << node.name;
    EXPECT_EQ(op_if<graph::ChannelScale>(node), nullptr) << node.name;
    sums += op_if<graph::Add>(node) != nullptr ? 1 : 0;
  }
  EXPECT_LE(sums, 9);
  EXPECT_GE(sums, 4);
}

// They read what the pooling read, and of each window but the pixel that its gradient goes to.
TEST(SumsOverThePoolingsGradient, ride_on_it) {
  const compile::Plan plan = plan_of(model::Phase::training, {.format = NumberFormat::bf16});
  int poolings = 0;
  for (const compile::Step& step : plan.steps.steps) {
    const graph::Node& node = plan.graph.node(step.leader.value);
    if (op_if<graph::MaxPoolGradient>(node) != nullptr) {
      ++poolings;
      ASSERT_EQ(step.riders.size(), 1U) << node.name;
      const graph::Node& rider = plan.graph.node(step.riders.front().computed.value);
      EXPECT_NE(op_if<graph::ChannelProducts>(rider), nullptr);
    }
  }
  EXPECT_EQ(poolings, 2);
}

}  // namespace
}  // namespace cosmic::target::cuda
