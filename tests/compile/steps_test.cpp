// Which steps a program is cut into, and what a target has to say about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/plan.hpp"
#include "compile/step.hpp"
#include "compile/target_info.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;
using testing::HasSubstr;
using testing::ThrowsMessage;

const graph::TensorType kImage{graph::DType::f32, {2, 3, 4, 4}};

/// A convolution with fixed weights, statistics of it, and the normalised result's activation.
struct Layer {
  Graph graph;
  ValueId kernel;
  ValueId conv;
  ValueId statistics;
  ValueId coefficients;
  ValueId affine;
  ValueId active;
};

Layer layer() {
  Builder g;
  Layer l;
  const ValueId image = g.input("image", kImage);
  l.kernel = g.parameter("kernel", {3, 3, 1, 1}, graph::Initializer::uniform(1));
  const ValueId weight = g.parameter("weight", {3}, graph::Initializer::constant(1));
  const ValueId bias = g.parameter("bias", {3}, graph::Initializer::constant(0));
  l.conv = g.add(graph::Conv{}, {image, l.kernel});
  l.statistics = g.add(graph::Statistics{.groups = 1}, {l.conv});
  l.coefficients = g.add(graph::NormCoefficients{}, {l.statistics, weight, bias});
  l.affine = g.add(graph::ChannelAffine{}, {l.conv, l.coefficients});
  l.active = g.add(graph::LeakyRelu{0.1}, {l.affine});
  g.output("y", l.active);
  l.graph = g.take();
  l.graph.node(l.affine).stored = false;
  return l;
}

TargetInfo target_that_rides() {
  TargetInfo target;
  target.has_riders = true;
  target.can_ride = [](const RideQuestion&) { return Support::yes(); };
  target.prepares_operand = [](const graph::Node& node, std::size_t i) {
    return graph::op_if<graph::Conv>(node) != nullptr && i == 1;
  };
  return target;
}

TEST(Steps, are_one_per_stored_value_where_nobody_rides) {
  const Layer l = layer();
  const StepList list = make_steps(l.graph, {});
  ASSERT_EQ(list.steps.size(), 4U);
  EXPECT_EQ(list.steps[0].leader.value, l.conv);
  EXPECT_EQ(list.steps[3].leader.value, l.active);
  verify(list, l.graph);
}

/// Of an accumulator, say: others use the memory of a zero that was made before the first run.
TEST(Steps, of_what_a_state_takes_run_every_time_even_if_it_is_always_the_same) {
  Builder g;
  const ValueId sum = g.state("sum", {graph::DType::f32, {4}}, graph::StateKind::optimizer,
                              graph::Initializer::constant(0));
  const ValueId zero = g.fill({graph::DType::f32, {4}}, 0);
  g.update(sum, zero);
  const Graph graph = g.take();
  const StepList list = make_steps(graph, {});
  ASSERT_EQ(list.steps.size(), 1U);
  EXPECT_EQ(list.steps[0].leader.value, zero);
  EXPECT_FALSE(list.steps[0].fixed);
}

TEST(Steps, take_along_the_sums_over_what_they_write) {
  const Layer l = layer();
  const StepList list = make_steps(l.graph, target_that_rides());
  ASSERT_EQ(list.steps.size(), 3U);
  ASSERT_EQ(list.steps[0].riders.size(), 1U);
  EXPECT_EQ(list.steps[0].riders[0].computed.value, l.statistics);
  EXPECT_EQ(list.steps[0].riders[0].ride, Ride::reduces_result);
  verify(list, l.graph);
}

TEST(Steps, ask_the_target_before_anyone_rides) {
  TargetInfo target = target_that_rides();
  target.can_ride = [](const RideQuestion& question) {
    return question.ride == Ride::reduces_result ? Support::no("too heavy") : Support::yes();
  };
  EXPECT_EQ(make_steps(layer().graph, target).steps.size(), 4U);
}

TEST(Steps, evaluate_what_is_not_stored_in_the_step_that_reads_it) {
  const Layer l = layer();
  const StepList list = make_steps(l.graph, {});
  EXPECT_EQ(to_text(TermView(l.graph, list.steps.back().leader.expression)),
            "leaky_relu(channel_affine(%" + std::to_string(l.conv.index()) + ", %" +
                std::to_string(l.coefficients.index()) + "))");
}

TEST(Steps, prepare_unchanging_weights_once_and_changing_ones_in_every_run) {
  Layer l = layer();
  EXPECT_EQ(make_steps(l.graph, target_that_rides()).steps[0].fixed_operands, 2U);
  // The same weights, updated by the program itself.
  Builder g(std::move(l.graph));
  g.update(l.kernel, g.add(graph::Add{}, {l.kernel, l.kernel}));
  EXPECT_EQ(make_steps(g.take(), target_that_rides()).steps[0].fixed_operands, 0U);
}

TEST(Steps, compute_what_only_prepared_weights_need_once) {
  Builder g;
  const ValueId image = g.input("image", kImage);
  const ValueId kernel = g.parameter("kernel", {3, 3, 1, 1}, graph::Initializer::uniform(1));
  const ValueId rounded = g.add(graph::Copy{}, {kernel});
  g.output("y", g.add(graph::Conv{}, {image, rounded}));
  const Graph graph = g.take();
  const StepList list = make_steps(graph, target_that_rides());
  EXPECT_TRUE(list.steps[0].fixed);
  EXPECT_FALSE(list.steps[1].fixed);
  // A target that reads kernels where they are has to find them there in every run.
  EXPECT_FALSE(make_steps(graph, {}).steps[0].fixed);
}

TEST(Steps, round_when_the_target_says_so) {
  Layer l = layer();
  l.graph.node(l.conv).format = NumberFormat::bf16;
  EXPECT_EQ(make_steps(l.graph, {}).steps[0].leader.rounded, RoundedWhen::as_written);
  TargetInfo target;
  target.rounds_as_written = [](const graph::Node&) { return false; };
  EXPECT_EQ(make_steps(l.graph, target).steps[0].leader.rounded, RoundedWhen::complete);
}

TEST(Steps, keep_apart_what_a_leader_reads_and_what_its_rider_writes_meanwhile) {
  Builder g;
  const ValueId image = g.input("image", kImage);
  const ValueId kernel = g.parameter("kernel", {3, 3, 1, 1}, graph::Initializer::uniform(1));
  const ValueId before = g.add(graph::Scale{2}, {image});
  const ValueId conv = g.add(graph::Conv{}, {before, kernel});
  const ValueId active = g.add(graph::LeakyRelu{0.1}, {conv});
  g.output("y", active);
  Graph graph = g.take();
  for (const ValueId id : {before, conv, active}) {
    graph.node(id).layout = graph::Layout::blocked;
  }
  const auto overlap = [&](const Plan& plan) {
    const Placement& read = *plan.placements[before.index()];
    const Placement& written = *plan.placements[active.index()];
    return read.offset < written.offset + written.bytes &&
           written.offset < read.offset + read.bytes;
  };
  EXPECT_TRUE(overlap(plan_memory(graph, {})));  // the first is dead when the last is written
  const Plan plan = plan_memory(graph, target_that_rides());
  ASSERT_EQ(plan.steps.steps[1].riders.at(0).ride, Ride::maps_result);
  EXPECT_FALSE(overlap(plan));
}

TEST(Steps, are_shown_with_riders_expressions_and_what_is_fixed) {
  const Layer l = layer();
  const std::string text = to_text(make_steps(l.graph, target_that_rides()), l.graph);
  EXPECT_THAT(text, HasSubstr("step 0: %" + std::to_string(l.conv.index()) + " = conv("));
  EXPECT_THAT(text, HasSubstr("rides: %" + std::to_string(l.statistics.index()) +
                              " = statistics(%" + std::to_string(l.conv.index()) + ")"));
  EXPECT_THAT(text, HasSubstr("(reduces the result)"));
  EXPECT_THAT(text, HasSubstr("fixed: prepares %" + std::to_string(l.kernel.index())));
  EXPECT_THAT(text, HasSubstr("leaky_relu(channel_affine("));
}

TEST(VerifySteps, finds_what_is_lost_repeated_or_read_wrongly) {
  const Layer l = layer();
  const StepList good = make_steps(l.graph, target_that_rides());
  StepList lost = good;
  lost.steps.pop_back();
  EXPECT_THAT([&] { verify(lost, l.graph); },
              ThrowsMessage<InternalError>(HasSubstr("no step computes")));
  StepList twice = good;
  twice.steps.push_back(good.steps.back());
  EXPECT_THAT([&] { verify(twice, l.graph); }, ThrowsMessage<InternalError>(HasSubstr("twice")));
  StepList wrong = good;
  wrong.steps.back().leader.expression.terms.pop_back();
  EXPECT_THAT([&] { verify(wrong, l.graph); },
              ThrowsMessage<InternalError>(HasSubstr("something else than its operands")));
  StepList unrounded = good;
  unrounded.steps[0].leader.rounded = RoundedWhen::complete;
  EXPECT_THAT([&] { verify(unrounded, l.graph); }, ThrowsMessage<InternalError>(HasSubstr("f32")));
  StepList grouped = good;
  grouped.groups = {{1, 9, 2}};
  EXPECT_THAT([&] { verify(grouped, l.graph); },
              ThrowsMessage<InternalError>(HasSubstr("are no group")));
}

TEST(VerifySteps, finds_steps_that_the_target_would_not_have_been_given) {
  Plan plan = plan_memory(layer().graph, {});
  EXPECT_NO_THROW(verify(plan, TargetInfo{}));
  EXPECT_THAT([&] { verify(plan, target_that_rides()); },
              ThrowsMessage<InternalError>(HasSubstr("not those that target")));
}

}  // namespace
}  // namespace cosmic::compile
