// Gradients that processes add up lie where their sums will be, so that nothing is moved.
#include "compile/inside.hpp"

#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"
#include "graph/ops/exchange_begins.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::compile {
namespace {

using graph::op_if;
using graph::ValueId;

Plan plan_of_step() {
  const TargetInfo target = target::make_target("cpu")->info();
  graph::Builder g;
  const ValueId image = g.input("image", session::small_types().image);
  const ValueId label = g.input("label", session::small_types().label);
  const ValueId logits =
      model::UResNet(session::small_network()).logits(g, image, model::Phase::training);
  g.output(kLossOutput,
           model::SegmentationLoss(model::BalanceScheme::light).loss(g, logits, label));
  GradientUse use;
  use.sums = Sums::of_all_processes;
  use.factor = 0.5;
  return make_plan(g.take(), training_passes(target, {Adam{}}, use), target, {});
}

TEST(Inside, a_sum_are_all_gradients_and_what_the_optimizer_reads_of_it) {
  const Plan plan = plan_of_step();
  const auto inside = values_inside(plan);
  int sums = 0;
  for_each_node(plan.graph, [&](ValueId id, const graph::Node& node) {
    if (op_if<graph::AllReduce>(node) != nullptr && node.operands.size() > 1) {
      ++sums;
      for (const ValueId operand : node.operands) {
        ASSERT_TRUE(inside[operand.index()]) << operand.index();
        EXPECT_EQ(inside[operand.index()]->whole, id);
      }
    }
    if (op_if<graph::Slice>(node) != nullptr &&
        op_if<graph::AllReduce>(plan.graph.node(node.operands[0])) != nullptr) {
      EXPECT_TRUE(inside[id.index()]) << id.index();
    }
  });
  EXPECT_GT(sums, 0);
}

/// Two tensors of 100 and 10 numbers that are added up over processes and read again.
struct TwoSums {
  graph::Builder g;
  ValueId x = g.input("x", {graph::DType::f32, {100}});
  ValueId y = g.input("y", {graph::DType::f32, {10}});
  ValueId first = g.add(graph::Scale{2}, {x});
  ValueId second = g.add(graph::Scale{3}, {y});
  ValueId sum = g.add(graph::AllReduce{}, {first, second});
  ValueId taken = g.add(graph::Slice{0, 128, 138}, {sum});

  Plan plan() {
    TargetInfo target;
    target.alignment = 256;
    target.can_write_over = [](const graph::Graph&, ValueId, ValueId) { return true; };
    g.output("taken", g.add(graph::Scale{2}, {taken}));
    Plan plan = plan_memory(g.take(), target);
    verify(plan, target);
    return plan;
  }
};

TEST(Inside, a_sum_operands_begin_at_multiples_with_room_in_between) {
  TwoSums two;
  const Plan plan = two.plan();
  EXPECT_EQ(plan.graph.type(two.sum).elements(), 138);
  const auto offset = [&](ValueId value) { return plan.placements[value.index()]->offset; };
  EXPECT_EQ(offset(two.first), offset(two.sum));
  EXPECT_EQ(offset(two.second), offset(two.sum) + 128 * 4);
  EXPECT_EQ(offset(two.taken), offset(two.second));
}

TEST(Inside, a_sum_is_nothing_that_is_read_when_the_sum_is_made) {
  TwoSums two;
  two.g.output("own", two.g.add(graph::Scale{5}, {two.first}));
  const Plan plan = two.plan();
  const auto inside = values_inside(plan);
  EXPECT_FALSE(inside[two.first.index()]);
  EXPECT_TRUE(inside[two.second.index()]);
}

TEST(Inside, a_sum_nothing_may_lie_at_another_place_than_its_own) {
  TwoSums two;
  Plan plan = two.plan();
  plan.placements[two.second.index()]->offset -= 256;
  EXPECT_THROW(verify(plan), InternalError);
}

TEST(Inside, a_sum_lies_nothing_for_a_target_that_writes_over_nothing) {
  TwoSums two;
  two.g.output("taken", two.taken);
  const Plan plan = plan_memory(two.g.take(), {});
  for (const auto& inside : values_inside(plan)) {
    EXPECT_FALSE(inside);
  }
}

}  // namespace
}  // namespace cosmic::compile
