#include "session/step_cost.hpp"

#include <gtest/gtest.h>

#include "graph/builder.hpp"

namespace cosmic::session {
namespace {

using graph::DType;
using graph::ValueId;

constexpr double kImage = 4.0 * 8 * 10 * 10;  // bytes of one

/// A plan as far as its cost needs one: the graph, with what is not stored marked.
class PlanOf {
 public:
  explicit PlanOf(graph::Graph graph) { plan_.graph = std::move(graph); }

  const compile::Plan& plan() const { return plan_; }
  compile::Computed computed(ValueId value) const {
    return {value, compile::expression_of(plan_.graph, value)};
  }
  compile::Step step(ValueId leader) const {
    compile::Step step;
    step.leader = computed(leader);
    return step;
  }
  PlanOf& not_stored(ValueId value) {
    plan_.graph.node(value).stored = false;
    return *this;
  }

 private:
  compile::Plan plan_;
};

TEST(StepCost, of_a_single_op_is_its_own_count) {
  graph::Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 8, 10, 10}});
  const ValueId y = g.add(graph::Scale{2}, {x});
  g.output("y", y);
  const PlanOf plan(g.take());
  const graph::Cost cost = cost_of_step(plan.plan(), plan.step(y));
  EXPECT_EQ(cost.bytes, 2 * kImage);
  EXPECT_EQ(cost.flops, graph::cost_of(plan.plan().graph, y).flops);
}

TEST(StepCost, of_what_is_evaluated_while_it_is_read_counts_what_is_stored) {
  graph::Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 8, 20, 20}});
  const ValueId pooled = g.add(graph::MaxPool{}, {x});
  const ValueId y = g.add(graph::Scale{2}, {pooled});
  g.output("y", y);
  PlanOf plan(g.take());
  plan.not_stored(pooled);
  EXPECT_EQ(cost_of_step(plan.plan(), plan.step(y)).bytes, 4 * kImage + kImage);
}

TEST(StepCost, of_a_step_with_riders_counts_what_they_share_once) {
  graph::Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 8, 10, 10}});
  const ValueId y = g.add(graph::Scale{2}, {x});
  const ValueId z = g.add(graph::Scale{3}, {y});
  const ValueId w = g.add(graph::Scale{4}, {x});
  g.output("y", y);
  g.output("z", z);
  g.output("w", w);
  const PlanOf plan(g.take());
  compile::Step step = plan.step(y);
  step.riders.push_back({plan.computed(z), compile::Ride::maps_result});
  step.riders.push_back({plan.computed(w), compile::Ride::shares_operand});
  const graph::Cost cost = cost_of_step(plan.plan(), step);
  EXPECT_EQ(cost.bytes, kImage + 3 * kImage) << "x is read once, three are written";
  EXPECT_EQ(cost.flops, 3 * graph::cost_of(plan.plan().graph, y).flops);
}

TEST(StepCost, counts_values_in_the_format_that_they_are_stored_in) {
  graph::Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 8, 10, 10}});
  const ValueId y = g.add(graph::Scale{2}, {x});
  g.output("y", y);
  graph::Graph graph = g.take();
  graph.node(y).format = NumberFormat::bf16;
  const PlanOf plan(std::move(graph));
  EXPECT_EQ(cost_of_step(plan.plan(), plan.step(y)).bytes, kImage + kImage / 2);
}

}  // namespace
}  // namespace cosmic::session
