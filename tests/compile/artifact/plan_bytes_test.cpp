// A plan that went through bytes is the same plan; bytes that are no sound plan are refused.
#include "compile/artifact/plan_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "compile/artifact/some_plan.hpp"
#include "core/error.hpp"

namespace cosmic::compile::artifact {
namespace {

using compile::Plan;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(PlanBytes, bring_a_plan_back_as_it_was) {
  for (const Plan& plan : {some_plan(), tiny_plan()}) {
    const Plan read = plan_of(plan_bytes(plan));
    EXPECT_EQ(graph::to_text(read.graph), graph::to_text(plan.graph));
    EXPECT_EQ(read.overwrites, plan.overwrites);
    EXPECT_EQ(read.arena_bytes, plan.arena_bytes);
    EXPECT_EQ(read.peak_live_bytes, plan.peak_live_bytes);
    // The bytes hold what the text leaves out: layouts, states' first values, places.
    EXPECT_EQ(plan_bytes(read), plan_bytes(plan));
    EXPECT_NO_THROW(compile::verify(read, some_target()));
  }
}

TEST(PlanBytes, keep_number_formats_how_they_are_rounded_and_what_guards_updates) {
  graph::Builder g;
  const graph::ValueId x = g.input("image", {graph::DType::f32, {1, 2, 4, 4}});
  const graph::ValueId y = g.add(graph::LeakyRelu{}, {x});
  const graph::ValueId runs = g.state("runs", {graph::DType::i64, {}}, graph::StateKind::optimizer,
                                      graph::Initializer::constant(0));
  g.update(runs, g.add(graph::Increment{}, {runs}));
  g.output("y", g.add(graph::Add{}, {x, y}));
  const graph::ValueId guard = g.fill({graph::DType::f32, {}}, 1);
  g.output("loss", guard);
  const graph::ValueId finite = g.add(graph::AllFinite{}, {guard});
  g.output("finite", finite);
  graph::Graph program = g.take();
  program.guard = guard;
  program.gradient_guard = finite;
  program.updates[0].guard = graph::Guard::gradients;
  program.node(y).format = NumberFormat::bf16;
  program.numerics = {Rounding::stochastic, 42, runs, NumberFormat::f16, true};
  const Plan read = plan_of(plan_bytes(compile::plan_memory(program, some_target())));
  EXPECT_EQ(read.graph.node(y).format, NumberFormat::bf16);
  EXPECT_EQ(read.graph.guard, guard);
  EXPECT_EQ(read.graph.gradient_guard, finite);
  EXPECT_EQ(read.graph.updates[0].guard, graph::Guard::gradients);
  EXPECT_EQ(read.graph.numerics.rounding, Rounding::stochastic);
  EXPECT_EQ(read.graph.numerics.seed, 42);
  EXPECT_EQ(read.graph.numerics.runs, runs);
  EXPECT_EQ(read.graph.numerics.partials, NumberFormat::f16);
  EXPECT_TRUE(read.graph.numerics.tf32);
}

TEST(PlanBytes, hold_every_kind_of_value) {
  const Plan plan = some_plan();
  const auto count = [&](const auto& is) {
    return std::count_if(plan.graph.nodes().begin(), plan.graph.nodes().end(), is);
  };
  EXPECT_GT(count([](const graph::Node& node) { return !node.stored; }), 0);
  EXPECT_GT(std::count_if(plan.overwrites.begin(), plan.overwrites.end(),
                          [](const auto& overwrite) { return overwrite.has_value(); }),
            0);
}

TEST(PlanBytes, differ_for_programs_that_differ_in_one_attribute) {
  graph::Builder a;
  graph::Builder b;
  a.output("y", a.add(graph::LeakyRelu{0.1}, {a.input("x", {graph::DType::f32, {1, 1, 4, 4}})}));
  b.output("y", b.add(graph::LeakyRelu{0.2}, {b.input("x", {graph::DType::f32, {1, 1, 4, 4}})}));
  EXPECT_NE(graph_bytes(a.graph()), graph_bytes(b.graph()));
}

TEST(PlanBytes, refuse_to_end_early) {
  const std::string bytes = plan_bytes(tiny_plan());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(plan_of(std::string_view(bytes).substr(0, length)), DataError) << length;
  }
  EXPECT_THROW(plan_of(bytes + '\0'), DataError);
}

TEST(PlanBytes, with_any_byte_changed_are_a_sound_plan_or_refused) {
  const std::string bytes = plan_bytes(tiny_plan());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        const Plan plan = plan_of(damaged);
        graph::verify(plan.graph);
        compile::verify(plan);
      } catch (const DataError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, bytes.size());
}

class UnsoundPlan : public testing::Test {
 protected:
  static void expect_refused(const std::function<void(Plan&)>& change, const char* reason) {
    Plan plan = tiny_plan();
    change(plan);
    EXPECT_THAT([&] { plan_of(plan_bytes(plan)); },
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr("a program that cannot be run"), HasSubstr(reason))));
  }
};

TEST_F(UnsoundPlan, with_a_type_its_op_does_not_give_is_refused) {
  expect_refused([](Plan& plan) { plan.graph.node(graph::ValueId(2)).type.shape[1] = 3; },
                 "its op and operands give f32[1x2x4x4]");
}

TEST_F(UnsoundPlan, with_a_value_outside_the_arena_is_refused) {
  expect_refused([](Plan& plan) { plan.placements[2]->offset = plan.arena_bytes; },
                 "within an arena of");
  expect_refused([](Plan& plan) { plan.placements[2]->offset = -64; }, "within an arena of");
}

TEST_F(UnsoundPlan, with_too_little_room_for_a_value_is_refused) {
  expect_refused([](Plan& plan) { plan.placements[2]->bytes = 64; }, "it needs 128");
}

TEST_F(UnsoundPlan, that_gives_a_value_up_before_its_last_reader_is_refused) {
  expect_refused([](Plan& plan) { plan.placements[2]->last = 2; }, "last read by node");
}

TEST_F(UnsoundPlan, without_a_place_for_a_value_is_refused) {
  expect_refused([](Plan& plan) { plan.placements[2].reset(); }, "has no place");
}

TEST_F(UnsoundPlan, with_two_values_in_the_same_bytes_is_refused) {
  expect_refused(
      [](Plan& plan) {
        plan.overwrites[3].reset();
        plan.placements[3] = plan.placements[2];
        plan.placements[3]->first = 3;
        plan.placements[3]->last = plan.graph.size();
      },
      "live at the same time");
}

TEST_F(UnsoundPlan, that_overwrites_what_it_does_not_update_is_refused) {
  expect_refused(
      [](Plan& plan) {
        plan.placements[2]->last = plan.graph.size();
        plan.placements[4].reset();
        plan.overwrites[4] = graph::ValueId(1);
      },
      "is not its update");
}

TEST(PlanBytes, refuse_a_stage_that_no_machine_has) {
  for (const std::int64_t stage : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    Plan plan = tiny_plan();
    plan.graph.node(graph::ValueId(2)).stage = stage;
    EXPECT_THAT([&] { plan_of(plan_bytes(plan)); },
                ThrowsMessage<DataError>(HasSubstr("an invalid stage")));
  }
}

TEST_F(UnsoundPlan, with_an_input_that_is_none_is_refused) {
  expect_refused([](Plan& plan) { plan.graph.inputs[0].value = graph::ValueId(2); },
                 "input 'image' is %2");
}

TEST_F(UnsoundPlan, with_an_input_that_nobody_provides_is_refused) {
  expect_refused([](Plan& plan) { plan.graph.inputs.clear(); }, "has no name");
}

TEST_F(UnsoundPlan, is_refused_by_a_target_that_needs_more_room) {
  const Plan plan = plan_of(plan_bytes(tiny_plan()));
  compile::TargetInfo target = some_target();
  target.storage_bytes = [](const graph::Node& node) { return 2 * node.type.bytes(); };
  EXPECT_THAT([&] { compile::verify(plan, target); },
              ThrowsMessage<InternalError>(HasSubstr("target 'some' needs 256")));
}

// What stands for an expression is small, the expression is not: a file that names one a million
// times would fill the memory before anybody looks at the steps.
TEST(PlanBytes, that_compute_a_value_twice_are_refused_where_they_are_read) {
  Plan plan = some_plan();
  plan.steps.steps.push_back(plan.steps.steps.front());
  EXPECT_THAT([&] { plan_of(plan_bytes(plan)); },
              testing::ThrowsMessage<DataError>(
                  testing::HasSubstr("computes a value twice or out of order")));
}

}  // namespace
}  // namespace cosmic::compile::artifact
