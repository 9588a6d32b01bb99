// What the passes for programs of small images promise.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/pipeline.hpp"
#include "compile/plan.hpp"
#include "graph/builder.hpp"
#include "target/cpu/cpu_info.hpp"
#include "target/cpu/cpu_target.hpp"
#include "target/cpu/small_images/bundle_groups.hpp"
#include "target/cpu/small_images/gate_before_unpooling.hpp"
#include "target/cpu/small_images/gate_by_activation.hpp"
#include "target/cpu/small_images/image_layout.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

/// A convolution, a rectifier and a linear layer with a loss, differentiated and with updates.
Graph training_step(std::int64_t batch) {
  Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {batch, 1, 4, 4}});
  const ValueId label = g.input("label", {graph::DType::u8, {batch}});
  const auto parameter = [&](const char* name, graph::Shape shape) {
    return g.parameter(name, std::move(shape), graph::Initializer::uniform(1));
  };
  const ValueId hidden = g.add(graph::Conv{}, {image, parameter("kernel", {2, 1, 3, 3})});
  const ValueId active = g.add(graph::LeakyRelu{0}, {hidden});
  const ValueId flat = g.add(graph::Reshape{{batch, 8}}, {active});
  const ValueId logits = g.add(graph::MatMul{graph::Transposed::no, graph::Transposed::yes},
                               {flat, parameter("weight", {3, 8})});
  const ValueId scores = g.add(graph::Softmax{1, graph::SoftmaxKind::logarithm}, {logits});
  g.output(compile::kLossOutput, g.add(graph::NegativeLogLikelihood{}, {scores, label}));
  Graph graph = compile::differentiate().run(g.take());
  graph = compile::apply_optimizer({compile::Sgd{.momentum = 0.9}}, compile::Keep::nothing)
              .run(std::move(graph));
  return compile::drop_dead_nodes().run(std::move(graph));
}

const Node& only_gate(const Graph& graph) {
  const auto found = std::find_if(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return op_if<graph::LeakyReluGradient>(node) != nullptr;
  });
  return *found;
}

TEST(ImageLayout, is_interleaved_for_whole_bundles_of_small_images_only) {
  EXPECT_EQ(image_layout(training_step(16)), graph::Layout::interleaved);
  EXPECT_EQ(image_layout(training_step(12)), graph::Layout::blocked);
}

TEST(GateByActivation, lets_the_operand_of_a_rectifier_go) {
  const Graph graph = gate_by_activation().run(training_step(16));
  verify(graph);
  EXPECT_NE(op_if<graph::LeakyRelu>(graph.node(only_gate(graph).operands[0])), nullptr);
}

TEST(GateByActivation, leaves_blocked_images_alone) {
  const Graph graph = gate_by_activation().run(training_step(12));
  EXPECT_NE(op_if<graph::Conv>(graph.node(only_gate(graph).operands[0])), nullptr);
}

/// A rectifier, a pool and a loss, differentiated.
Graph pooling_step(std::int64_t batch) {
  Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {batch, 1, 4, 4}});
  const ValueId label = g.input("label", {graph::DType::u8, {batch}});
  const ValueId kernel = g.parameter("kernel", {1, 1, 1, 1}, graph::Initializer::uniform(1));
  const ValueId active = g.add(graph::LeakyRelu{0}, {g.add(graph::Conv{}, {image, kernel})});
  const ValueId pooled = g.add(graph::MaxPool{}, {active});
  const ValueId scores = g.add(graph::Softmax{1, graph::SoftmaxKind::logarithm},
                               {g.add(graph::Reshape{{batch, 4}}, {pooled})});
  g.output(compile::kLossOutput, g.add(graph::NegativeLogLikelihood{}, {scores, label}));
  return compile::differentiate().run(g.take());
}

TEST(GateBeforeUnpooling, gates_the_small_image_and_spreads_it_out_last) {
  const Graph graph = gate_before_unpooling().run(gate_by_activation().run(pooling_step(16)));
  verify(graph);
  const Node& gate = only_gate(graph);
  EXPECT_NE(op_if<graph::MaxPool>(graph.node(gate.operands[0])), nullptr);
  EXPECT_EQ(gate.type.shape, (graph::Shape{16, 1, 2, 2}));
  const auto unpool =
      std::find_if(graph.nodes().begin(), graph.nodes().end(),
                   [](const Node& node) { return op_if<graph::MaxPoolGradient>(node) != nullptr; });
  EXPECT_EQ(&graph.node(unpool->operands[1]), &gate);
  EXPECT_NE(op_if<graph::LeakyRelu>(graph.node(unpool->operands[0])), nullptr);
}

TEST(GateBeforeUnpooling, leaves_a_pool_alone_whose_gradient_somebody_else_reads) {
  Graph before = gate_by_activation().run(pooling_step(16));
  before.outputs.push_back({"spread", only_gate(before).operands[1]});
  const Graph graph = gate_before_unpooling().run(before);
  EXPECT_EQ(only_gate(graph).type.shape, (graph::Shape{16, 1, 4, 4}));
}

Graph with_layouts(const Graph& graph) {
  return compile::assign_layouts(cpu_info()).run(graph);
}

TEST(BundleGroups, hold_what_does_not_mix_images_and_end_before_what_does) {
  const Graph graph = with_layouts(training_step(16));
  const compile::StepList list = compile::make_steps(graph, cpu_info());
  ASSERT_EQ(list.groups.size(), 2U);  // forwards and backwards, around the linear layer
  for (const compile::StepGroup& group : list.groups) {
    EXPECT_EQ(group.parts, 2);
    for (std::size_t i = group.first; i <= group.last; ++i) {
      const Node& leader = graph.node(list.steps[i].leader.value);
      EXPECT_EQ(op_if<graph::MatMul>(leader), nullptr);
      EXPECT_EQ(op_if<graph::Moment>(leader), nullptr);
    }
  }
}

TEST(BundleGroups, are_none_where_images_are_blocked) {
  EXPECT_TRUE(compile::make_steps(with_layouts(training_step(12)), cpu_info()).groups.empty());
}

TEST(BundleGroups, leave_out_a_step_that_rounds_when_its_result_is_complete) {
  Graph graph = with_layouts(training_step(16));
  const compile::StepList before = compile::make_steps(graph, cpu_info());
  const auto activated =
      std::find_if(before.steps.begin(), before.steps.end(), [](const compile::Step& step) {
        return !step.riders.empty() && step.riders.front().ride == compile::Ride::maps_result;
      });
  ASSERT_NE(activated, before.steps.end());
  // The convolution itself stays float32: an anchor asks for it.
  graph.node(activated->riders.front().computed.value).format = NumberFormat::bf16;
  const compile::StepList after = compile::make_steps(graph, cpu_info());
  const auto index = static_cast<std::size_t>(activated - before.steps.begin());
  EXPECT_EQ(after.steps[index].riders.front().computed.rounded, compile::RoundedWhen::complete);
  for (const compile::StepGroup& group : after.groups) {
    EXPECT_FALSE(group.first <= index && index <= group.last);
  }
}

TEST(MemoryKind, lets_images_take_the_place_of_images_with_the_same_bundles_only) {
  const compile::TargetInfo target = make_cpu_target()->info();
  const compile::Plan plan = compile::plan_memory(with_layouts(training_step(16)), target);
  const auto share_bytes = [](const compile::Placement& a, const compile::Placement& b) {
    return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  };
  int images = 0;
  for (std::size_t a = 0; a < plan.graph.size(); ++a) {
    const std::int64_t kind = target.memory_kind(plan.graph, ValueId(a));
    images += kind != 0 ? 1 : 0;
    for (std::size_t b = 0; b < plan.graph.size(); ++b) {
      if (kind != 0 && plan.placements[a] && plan.placements[b] &&
          share_bytes(*plan.placements[a], *plan.placements[b])) {
        EXPECT_EQ(plan.placements[a]->offset, plan.placements[b]->offset) << a << " and " << b;
        EXPECT_EQ(plan.placements[a]->bytes, plan.placements[b]->bytes) << a << " and " << b;
      }
    }
  }
  EXPECT_GT(images, 4);
}

TEST(UpdateWeightsEarly, puts_moment_and_step_right_after_the_gradient_of_a_linear_layer) {
  const Graph graph = compile::update_weights_early().run(training_step(16));
  verify(graph);
  std::size_t moved = 0;
  for (std::size_t i = 0; i + 2 < graph.size(); ++i) {
    const bool updated = op_if<graph::MatMul>(graph.nodes()[i]) != nullptr &&
                         op_if<graph::Moment>(graph.nodes()[i + 1]) != nullptr &&
                         op_if<graph::SgdStep>(graph.nodes()[i + 2]) != nullptr;
    moved += updated ? 1 : 0;
  }
  EXPECT_EQ(moved, 1U);
}

TEST(UpdateWeightsEarly, never_before_the_last_reader_of_the_old_weights) {
  const Graph graph = compile::update_weights_early().run(training_step(16));
  for (const graph::StateUpdate& update : graph.updates) {
    for (std::size_t i = update.value.index() + 1; i < graph.size(); ++i) {
      const auto& operands = graph.nodes()[i].operands;
      EXPECT_EQ(std::count(operands.begin(), operands.end(), update.state), 0);
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu
