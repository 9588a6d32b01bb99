// How programs are run: formats, pipelines, accumulation, launches, sections.
#include <gmock/gmock.h>

#include "core/error.hpp"
#include "graph/builder.hpp"
#include "machine/liveness.hpp"
#include "machine/prediction.hpp"
#include "machine/toy_machine.hpp"
#include "machine/workload.hpp"
#include "target/registry.hpp"

namespace cosmic::machine {
namespace {

using graph::Builder;
using graph::DType;
using graph::ValueId;
using machine_test::machine_with;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr ExecutionOptions kOnMachine{.host_data = HostData::synthetic};

graph::Graph one_activation(NumberFormat format) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 1, 64, 64}});
  const ValueId y = g.add(graph::LeakyRelu{}, {x});
  g.output("y", y);
  graph::Graph graph = g.take();
  graph.node(y).format = format;
  return graph;
}

/// Two layers, the second in a stage of its own, and an update for each.
graph::Graph two_stages() {
  Builder g;
  const ValueId rate = g.input("rate", {DType::f32, {}});
  const ValueId x = g.input("x", {DType::f32, {1, 8, 32, 32}});
  const ValueId a = g.parameter("a", {8, 8, 1, 1}, graph::Initializer::constant(0));
  const ValueId y = g.add(graph::Conv{}, {x, a});
  g.set_stage(1);
  const ValueId b = g.parameter("b", {8, 8, 1, 1}, graph::Initializer::constant(0));
  const ValueId z = g.add(graph::Conv{}, {y, b});
  g.output("z", z);
  g.update(
      b, g.add(graph::SgdStep{}, {b, g.add(graph::ConvKernelGradient{{}, {1, 1}}, {y, z}), rate}));
  const ValueId dy = g.add(graph::ConvTranspose{{}, {32, 32}}, {z, b});
  g.set_stage(0);
  g.update(
      a, g.add(graph::SgdStep{}, {a, g.add(graph::ConvKernelGradient{{}, {1, 1}}, {x, dy}), rate}));
  return g.take();
}

constexpr double kImage = 4.0 * 8 * 32 * 32;

// --- formats ---

TEST(Formats, a_format_that_a_machine_lacks_is_refused_with_those_that_it_has) {
  EXPECT_THAT([] { predict(target::find_machine("gc200"), one_activation(NumberFormat::bf16)); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("GC200 has no bfloat16"), HasSubstr("float32, float16"))));
  EXPECT_THAT([] { predict(target::find_machine("gaudi1"), one_activation(NumberFormat::f16)); },
              ThrowsMessage<UserError>(HasSubstr("Gaudi1 has no float16")));
  EXPECT_THAT([] { predict(target::find_machine("sn30"), one_activation(NumberFormat::f16)); },
              ThrowsMessage<UserError>(HasSubstr("float32, bfloat16")));
  EXPECT_NO_THROW(predict(target::find_machine("h200"), one_activation(NumberFormat::f16)));
}

TEST(Formats, half_partial_sums_are_refused_where_there_is_no_choice) {
  graph::Graph graph = one_activation(NumberFormat::f32);
  graph.numerics.partials = NumberFormat::f16;
  EXPECT_NO_THROW(predict(target::find_machine("gc200"), graph));
  EXPECT_THAT([&] { predict(target::find_machine("gaudi1"), graph); },
              ThrowsMessage<UserError>(HasSubstr("run.partials=float32")));
}

// --- stages ---

TEST(StageLiveness, each_stage_holds_its_own_and_what_it_received) {
  const Liveness liveness = liveness_of(two_stages());
  ASSERT_EQ(liveness.stages.size(), 2U);
  const StageLiveness& first = liveness.stages[0];
  const StageLiveness& second = liveness.stages[1];
  EXPECT_EQ(first.states, 4.0 * 64);
  EXPECT_EQ(first.accumulators, 4.0 * 64);
  // The first keeps x for its kernel's gradient, the second z, its own, and y: it received that.
  EXPECT_EQ(first.kept_for_backward, kImage);
  EXPECT_EQ(second.kept_for_backward, 2 * kImage);
  EXPECT_EQ(second.received, kImage + 4);  // and the learning rate
  EXPECT_EQ(first.received, kImage);       // the gradient of y
}

TEST(StageLiveness, a_value_that_skips_a_stage_passes_through_it) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 8, 32, 32}});
  const ValueId skipping = g.add(graph::LeakyRelu{}, {x});
  g.set_stage(1);
  g.output("z", g.add(graph::Fill{{DType::f32, {1}}}, {}));
  g.set_stage(2);
  g.output("y", g.add(graph::LeakyRelu{}, {skipping}));
  const Liveness liveness = liveness_of(g.graph());
  ASSERT_EQ(liveness.stages.size(), 3U);
  EXPECT_EQ(liveness.stages[1].over_program.front(), kImage);  // before anything of its own
  EXPECT_EQ(liveness.stages[1].received, 0);
  EXPECT_EQ(liveness.stages[2].received, kImage);
}

TEST(StageLiveness, an_earlier_stage_has_more_runs_under_way) {
  EXPECT_EQ(runs_in_flight(3, 4), 1);
  EXPECT_EQ(runs_in_flight(0, 4), 7);
}

TEST(Pipeline, is_as_slow_as_its_slowest_stage_and_as_full_as_its_fullest) {
  const Description machine = machine_with("gc200", {{"host_call", 0}});
  const Prediction prediction = predict(
      machine, two_stages(), {.accumulation = 12, .pipeline = 2, .host_data = HostData::synthetic});
  EXPECT_THAT(prediction.memory.place, HasSubstr("of stage"));
  double first = 0;
  double second = 0;
  const graph::Graph graph = two_stages();
  for (const OpTime& op : prediction.ops) {
    (graph.node(op.value).stage == 0 ? first : second) += op.time.modelled_seconds();
  }
  const double link = prediction.by_bound[static_cast<std::size_t>(Bound::link)].modelled_seconds();
  EXPECT_NEAR(prediction.step.best.modelled_seconds() - link,
              std::max(first, second) * (12 + 3 - 1) / 12, 1e-12);
}

TEST(Pipeline, a_program_with_other_stages_than_there_are_machines_is_refused) {
  EXPECT_THAT(
      [] {
        predict(target::find_machine("gc200"), two_stages(), {.accumulation = 9, .pipeline = 3});
      },
      ThrowsMessage<UserError>(HasSubstr("the program has 2 stages and the pipeline 3")));
  EXPECT_THAT([] { predict(target::find_machine("gaudi1"), two_stages()); },
              ThrowsMessage<UserError>(HasSubstr("2 stages")));
}

// --- what lives between updates ---

TEST(Accumulation, sums_of_gradients_live_on_every_machine) {
  for (const char* name : {"gaudi1", "sn30", "h200"}) {
    SCOPED_TRACE(name);
    graph::Graph graph = two_stages();
    for (std::size_t i = 0; i < graph.size(); ++i) {
      graph.node(ValueId(i)).stage = 0;
    }
    const auto always = [&](int accumulation) {
      return predict(target::find_machine(name), graph, {.accumulation = accumulation})
          .memory.always_live.modelled_bytes();
    };
    EXPECT_EQ(always(2) - always(1), 2 * 4.0 * 64);
  }
}

/// An update of 2^20 numbers with a moment each.
graph::Graph update_with_a_moment() {
  Builder g;
  const ValueId p = g.parameter("p", {1 << 20}, graph::Initializer::constant(0));
  const ValueId m = g.state("m", {DType::f32, {1 << 20}}, graph::StateKind::optimizer,
                            graph::Initializer::constant(0));
  const ValueId gradient = g.input("gradient", {DType::f32, {1 << 20}});
  const ValueId rate = g.input("rate", {DType::f32, {}});
  const ValueId moment = g.add(graph::Moment{}, {m, gradient});
  g.update(m, moment);
  g.update(p, g.add(graph::SgdStep{}, {p, moment, rate}));
  return g.take();
}

TEST(OptimizerStateBesideTheChip, frees_tiles_and_costs_time_where_there_is_such_memory) {
  const graph::Graph graph = update_with_a_moment();
  const Description machine = target::find_machine("gc200");
  const Prediction on_chip = predict(machine, graph, kOnMachine);
  const Prediction streamed =
      predict(machine, graph,
              {.host_data = HostData::synthetic, .optimizer_state = OptimizerState::streamed});
  // Grains are not split, so a tile may hold a few bytes more.
  EXPECT_NEAR(streamed.memory.always_live.modelled_bytes() * 2,
              on_chip.memory.always_live.modelled_bytes(), 8);
  EXPECT_NEAR((streamed.step.best.modelled_seconds() - on_chip.step.best.modelled_seconds()),
              2 * 4.0 * (1 << 20) / 8e9, 1e-9);
  EXPECT_THAT(
      [&] {
        predict(target::find_machine("h200"), graph, {.optimizer_state = OptimizerState::streamed});
      },
      ThrowsMessage<UserError>(HasSubstr("H200 has one memory")));
}

TEST(OptimizerStateBesideTheChip, is_shared_among_replicas_which_stream_their_part) {
  const graph::Graph graph = update_with_a_moment();
  const Description machine = target::find_machine("gc200");
  const auto streaming_seconds = [&](int replicas) {
    const auto step = [&](OptimizerState state) {
      return predict(
                 machine, graph,
                 {.replicas = replicas, .host_data = HostData::synthetic, .optimizer_state = state})
          .step.best.modelled_seconds();
    };
    return step(OptimizerState::streamed) - step(OptimizerState::on_chip);
  };
  EXPECT_NEAR(streaming_seconds(4), streaming_seconds(1) / 4, 1e-9);
}

// --- launches ---

TEST(Launches, lazy_mode_has_a_recipe_before_each_mark_step_and_compiles_for_every_shape) {
  graph::Graph graph = two_stages();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    graph.node(ValueId(i)).stage = 0;
  }
  const Prediction lazy = predict(target::find_machine("gaudi1"), graph, kOnMachine);
  EXPECT_EQ(lazy.launches, 2U);
  EXPECT_EQ(lazy.compilations, 2U);
  EXPECT_DOUBLE_EQ(lazy.compiling.modelled_seconds(), static_cast<double>(lazy.ops.size()) * 20e-3);
  EXPECT_THAT(lazy.notes.front(), HasSubstr("mark steps"));
  const Prediction eager =
      predict(target::find_machine("gaudi1"), graph,
              {.host_data = HostData::synthetic, .launching = Launching::per_op});
  EXPECT_EQ(eager.launches, 7U);
  // Both convolutions look alike, and so do their kernels' gradients and updates.
  EXPECT_EQ(eager.compilations, 4U);
}

TEST(Launches, ops_issued_one_by_one_wait_for_the_host) {
  const Description machine = machine_with("h200", {{"issue_time", 1e-3}, {"launch_time", 0}});
  const graph::Graph graph = one_activation(NumberFormat::f32);
  const auto step = [&](const Description& m, Launching launching) {
    return predict(m, graph, {.host_data = HostData::synthetic, .launching = launching})
        .step.best.modelled_seconds();
  };
  EXPECT_DOUBLE_EQ(step(machine, Launching::per_op), 1e-3);
  EXPECT_LT(step(machine, Launching::whole_program), 1e-6);
}

TEST(Roofline, convolutions_of_few_channels_fill_a_part_of_a_tile) {
  const auto seconds = [](std::int64_t channels) {
    Builder g;
    const ValueId x = g.input("x", {DType::f32, {1, channels, 512, 512}});
    const ValueId k = g.parameter("k", {channels, channels, 1, 1}, graph::Initializer::constant(0));
    g.output("y", g.add(graph::Conv{}, {x, k}));
    const Description machine = machine_with("h200", {{"memory_bandwidth", 1e18},
                                                      {"launch_time", 0},
                                                      {"kernel_latency", 0},
                                                      {"tile_channels", 64},
                                                      {"processors", 1}});
    graph::Graph graph = g.take();
    graph.numerics.tf32 = true;  // plain float32 is not padded
    return predict(machine, graph, kOnMachine).step.best.modelled_seconds();
  };
  EXPECT_DOUBLE_EQ(seconds(8), seconds(64));  // padded to the same work
  EXPECT_DOUBLE_EQ(seconds(128), 4 * seconds(64));
}

}  // namespace
}  // namespace cosmic::machine
