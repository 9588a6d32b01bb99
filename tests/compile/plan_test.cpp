// Memory plans: values that live at the same time never share bytes, states are updated in place
// where nobody notices.
#include "compile/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Graph;
using graph::Initializer;
using graph::ValueId;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const graph::TensorType kImage{DType::f32, {1, 4, 16, 16}};

TargetInfo recomputing_target() {
  TargetInfo target;
  target.can_recompute = [](const Graph&, ValueId) { return true; };
  return target;
}

/// A step of a small network: forward, backward, update.
Plan training_plan(const TargetInfo& target) {
  model::UResNetOptions options;
  options.n_initial_filters = 2;
  options.depth = 2;
  options.blocks_deepest_layer = 1;
  options.bottleneck_deepest = 4;
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 3, 16, 16}});
  const ValueId label = g.input("label", {DType::u8, {1, 3, 16, 16}});
  const ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return make_plan(g.take(), training_passes(target, {Adam{}}, {}), target, {});
}

/// The last node that reads a value, through whatever is recomputed; worked out reader by reader.
std::size_t last_reader(const Graph& graph, ValueId id) {
  std::size_t last = id.index();
  for (std::size_t i = id.index() + 1; i < graph.size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    if (std::find(node.operands.begin(), node.operands.end(), id) != node.operands.end()) {
      last = std::max(last, node.stored ? i : last_reader(graph, ValueId(i)));
    }
  }
  return last;
}

void expect_sound(const Plan& plan) {
  verify(plan);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    if (const auto& placement = plan.placements[i]) {
      EXPECT_EQ(placement->first, i);
      EXPECT_GE(placement->last, last_reader(plan.graph, ValueId(i)));
      EXPECT_GE(placement->bytes, plan.graph.nodes()[i].type.bytes());
      EXPECT_EQ(placement->offset % 64, 0);
      end = std::max(end, placement->offset + placement->bytes);
    }
  }
  EXPECT_EQ(plan.arena_bytes, end);
  EXPECT_GE(plan.arena_bytes, plan.peak_live_bytes);
}

TEST(Plan, of_a_training_step_is_sound_and_close_to_the_least_memory) {
  for (const TargetInfo& target : {TargetInfo{}, recomputing_target()}) {
    const Plan plan = training_plan(target);
    expect_sound(plan);
    EXPECT_LE(static_cast<double>(plan.arena_bytes),
              1.2 * static_cast<double>(plan.peak_live_bytes));
  }
}

TEST(Plan, recomputing_needs_less_memory) {
  EXPECT_LT(training_plan(recomputing_target()).arena_bytes,
            training_plan(TargetInfo{}).arena_bytes);
}

TEST(Plan, of_a_training_step_updates_in_place_what_comes_after_the_loss) {
  const Plan plan = training_plan(TargetInfo{});
  ASSERT_TRUE(plan.graph.guard.has_value());
  std::int64_t copied_bytes = 0;
  std::int64_t bytes = 0;
  for (const graph::StateVariable& state : plan.graph.states) {
    for (const graph::StateUpdate& update : plan.graph.updates) {
      if (update.state != state.value) {
        continue;
      }
      // Running statistics are there before the loss is, and might have to be given up.
      const bool in_place = plan.overwrites[update.value.index()].has_value();
      EXPECT_EQ(in_place, state.kind != graph::StateKind::buffer) << state.name;
      EXPECT_NE(in_place, plan.placements[update.value.index()].has_value()) << state.name;
      bytes += plan.graph.type(state.value).bytes();
      copied_bytes += in_place ? 0 : plan.graph.type(state.value).bytes();
    }
  }
  EXPECT_LT(copied_bytes, bytes / 10);
}

TEST(Plan, that_overwrites_a_state_before_the_guard_is_known_is_refused) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {}});
  const ValueId state = g.parameter("p", {}, Initializer::constant(0));
  const ValueId early = g.add(graph::Add{}, {state, x});
  const ValueId loss = g.add(graph::Scale{2}, {x});
  g.update(state, early);
  g.output("loss", loss);
  Graph graph = g.take();
  EXPECT_EQ(plan_memory(graph, {}).overwrites[early.index()], state);
  graph.guard = loss;
  Plan plan = plan_memory(graph, {});
  EXPECT_EQ(plan.overwrites[early.index()], std::nullopt);
  plan.overwrites[early.index()] = state;
  plan.placements[early.index()].reset();
  EXPECT_THAT([&] { verify(plan); },
              ThrowsMessage<InternalError>(HasSubstr("not known yet whether updates count")));
}

TEST(Plan, values_that_do_not_meet_share_memory) {
  Builder g;
  ValueId x = g.input("image", kImage);
  for (int i = 0; i < 10; ++i) {
    x = g.add(graph::Scale{2}, {x});
  }
  g.output("y", x);
  const Plan plan = plan_memory(g.take(), {});
  expect_sound(plan);
  EXPECT_EQ(plan.arena_bytes, 2 * kImage.bytes());
}

TEST(Plan, a_value_lives_until_the_last_reader_of_what_is_recomputed_from_it) {
  Builder g;
  const ValueId stored = g.add(graph::Scale{2}, {g.input("image", kImage)});
  const ValueId recomputed = g.add(graph::LeakyRelu{}, {stored});
  const ValueId between = g.add(graph::Scale{3}, {g.graph().inputs[0].value});
  const ValueId late = g.add(graph::Add{}, {recomputed, between});
  g.output("y", late);
  Graph graph = g.take();
  graph.node(recomputed).stored = false;
  const Plan plan = plan_memory(graph, {});
  expect_sound(plan);
  EXPECT_FALSE(plan.placements[recomputed.index()].has_value());
  EXPECT_EQ(plan.placements[stored.index()]->last, late.index());
}

struct UpdatedState {
  Graph graph;
  ValueId state;
  ValueId update;
};

/// A moment that is updated, and read before or after that.
UpdatedState updated_state(bool read_later) {
  Builder g;
  const ValueId gradient = g.input("gradient", kImage);
  const ValueId state =
      g.state("moment", kImage, graph::StateKind::optimizer, Initializer::constant(0));
  if (!read_later) {
    g.output("old", g.add(graph::Scale{2}, {state}));
  }
  const ValueId update = g.add(graph::Moment{}, {state, gradient});
  g.update(state, update);
  if (read_later) {
    g.output("old", g.add(graph::Scale{2}, {state}));
  }
  return {g.take(), state, update};
}

TEST(Plan, a_state_nobody_reads_any_more_is_overwritten) {
  const UpdatedState updated = updated_state(false);
  const Plan plan = plan_memory(updated.graph, {});
  EXPECT_EQ(plan.overwrites[updated.update.index()], updated.state);
}

TEST(Plan, a_state_that_is_read_later_is_not_overwritten) {
  const UpdatedState updated = updated_state(true);
  const Plan plan = plan_memory(updated.graph, {});
  EXPECT_FALSE(plan.overwrites[updated.update.index()].has_value());
  EXPECT_TRUE(plan.placements[updated.update.index()].has_value());
}

TEST(Plan, storage_is_as_large_as_the_target_says) {
  Builder g;
  g.output("y", g.add(graph::Scale{2}, {g.input("image", kImage)}));
  TargetInfo target;
  target.alignment = 4096;
  target.storage_bytes = [](const graph::Node& node) { return 2 * node.type.bytes() + 1; };
  EXPECT_EQ(plan_memory(g.take(), target).arena_bytes, 3 * 4096);
}

TEST(Plan, verification_names_two_values_in_the_same_bytes) {
  Builder g;
  const ValueId x = g.input("image", kImage);
  const ValueId a = g.add(graph::Scale{2}, {x});
  const ValueId b = g.add(graph::Scale{3}, {x});
  g.output("y", g.add(graph::Add{}, {a, b}));
  Plan plan = plan_memory(g.take(), {});
  plan.placements[b.index()]->offset = plan.placements[a.index()]->offset;
  EXPECT_THAT([&] { verify(plan); },
              ThrowsMessage<InternalError>(
                  AllOf(HasSubstr("%1 and %2"), HasSubstr("live at the same time"))));
}

TEST(Plan, values_of_different_kinds_share_no_memory) {
  Builder g;
  ValueId x = g.input("x", kImage);
  for (int i = 0; i < 8; ++i) {
    x = g.add(graph::Scale{2}, {x});
  }
  g.output("y", x);
  TargetInfo target;
  target.memory_kind = [](const Graph&, ValueId id) {
    return static_cast<std::int64_t>(id.index() / 5);  // 1 to 4 and 5 to 8
  };
  const Plan plan = plan_memory(g.take(), target);
  expect_sound(plan);
  EXPECT_EQ(plan.arena_bytes, 4 * kImage.bytes());  // two of each kind
  for (std::size_t a = 1; a <= 4; ++a) {
    for (std::size_t b = 5; b <= 8; ++b) {
      EXPECT_NE(plan.placements[a]->offset, plan.placements[b]->offset);
    }
  }
}

TEST(Plan, nodes_that_run_side_by_side_share_no_memory) {
  const auto chain = [] {
    Builder g;
    ValueId x = g.input("x", kImage);
    for (int i = 0; i < 4; ++i) {
      x = g.add(graph::Scale{2}, {x});
    }
    g.output("y", x);
    return g.take();
  };
  const std::int64_t bytes = kImage.bytes();
  EXPECT_EQ(plan_memory(chain(), {}).arena_bytes, 2 * bytes);  // every other value's place is free
  TargetInfo side_by_side;
  side_by_side.part_of_group = [](const Graph&, const Step& step) {
    return step.leader.value.index() <= 3 ? Part{.parts = 2, .has_images = true} : Part{};
  };
  const Plan plan = plan_memory(chain(), side_by_side);
  verify(plan);
  EXPECT_EQ(plan.arena_bytes, 3 * bytes);  // the last is alone again
}

}  // namespace
}  // namespace cosmic::compile
