// Small cases, computed by hand from the formulas that each family states.
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>
#include <type_traits>

#include "core/error.hpp"
#include "graph/builder.hpp"
#include "machine/liveness.hpp"
#include "machine/prediction.hpp"
#include "machine/toy_machine.hpp"
#include "machine/workload.hpp"
#include "target/ipu/convolution_plan.hpp"
#include "target/registry.hpp"

namespace cosmic::machine {
namespace {

using target::ipu::ConvolutionMode;
using target::ipu::ConvolutionPlan;
using target::ipu::cycles_per_row;
using target::ipu::plan_convolution;

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::TensorType;
using graph::ValueId;
using machine_test::machine_with;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One product of [256, 128] and [128, 64]: 2^22 flops, 229376 bytes, each tensor once.
constexpr double kFlops = 2.0 * 256 * 128 * 64;
constexpr double kBytes = 4.0 * (256 * 128 + 128 * 64 + 256 * 64);

graph::Graph one_product() {
  Builder g;
  const ValueId a = g.input("a", {DType::f32, {256, 128}});
  const ValueId b = g.input("b", {DType::f32, {128, 64}});
  g.output("c", g.add(graph::MatMul{}, {a, b}));
  return g.take();
}

graph::Graph two_products() {
  Builder g;
  const ValueId a = g.input("a", {DType::f32, {256, 128}});
  const ValueId b = g.input("b", {DType::f32, {128, 64}});
  const ValueId c = g.add(graph::MatMul{}, {a, b});
  g.output("d", g.add(graph::MatMul{.b = graph::Transposed::yes}, {c, b}));
  return g.take();
}

graph::Graph one_update(std::int64_t parameters) {
  Builder g;
  const ValueId p = g.parameter("p", {parameters}, graph::Initializer::constant(0));
  const ValueId gradient = g.input("gradient", {DType::f32, {parameters}});
  const ValueId rate = g.input("rate", {DType::f32, {}});
  g.update(p, g.add(graph::SgdStep{}, {p, gradient, rate}));
  return g.take();
}

constexpr ExecutionOptions kOnMachine{.host_data = HostData::synthetic};

double step_seconds(const Description& machine, const graph::Graph& graph,
                    const ExecutionOptions& options) {
  return predict(machine, graph, options).step.best.modelled_seconds();
}

double seconds_on(const Prediction& prediction, Bound bound) {
  return prediction.by_bound[static_cast<std::size_t>(bound)].modelled_seconds();
}

// --- what was not measured says so ---

TEST(Modelled, is_no_plain_number_and_never_prints_without_saying_so) {
  static_assert(!std::is_convertible_v<ModelledTime, double>);
  static_assert(!std::is_convertible_v<double, ModelledTime>);
  static_assert(!std::is_convertible_v<ModelledBytes, double>);
  std::ostringstream out;
  out << ModelledTime(0.00321) << "; " << ModelledBytes(4.5e9);
  EXPECT_EQ(out.str(), "3.21 ms (modelled); 4.5 GB (modelled)");
  EXPECT_EQ(to_string(ModelledRange{ModelledTime(2), ModelledTime(1.5), ModelledTime(3)}),
            "2 s (modelled, 1.5 to 3 s)");
}

// --- the program ---

TEST(Workload, a_convolution_and_its_gradients_are_contractions_of_the_same_work) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {2, 8, 10, 12}});
  const ValueId kernel = g.parameter("kernel", {16, 8, 3, 3}, graph::Initializer::constant(0));
  const graph::Window window{.stride = {1, 1, 1}, .pad = {0, 1, 1}};
  const ValueId y = g.add(graph::Conv{window}, {image, kernel});
  g.add(graph::ConvKernelGradient{window, {3, 3}}, {image, y});
  g.add(graph::ConvTranspose{window, {10, 12}}, {y, kernel});
  const Workload workload = workload_of(g.graph());
  const double multiply_adds = 2.0 * 10 * 12 * 8 * 16 * 9;
  for (const std::size_t node : {2U, 3U, 4U}) {
    const Work& work = workload.works[node];
    ASSERT_TRUE(work.contraction) << work.op;
    EXPECT_EQ(work.contraction->multiply_adds(), multiply_adds) << work.op;
    EXPECT_EQ(work.flops, 2 * multiply_adds) << work.op;
  }
  EXPECT_EQ(workload.works[3].contraction->common, 2 * 10 * 12);  // sums over all pixels
}

TEST(Workload, an_inference_computes_once_what_depends_on_its_weights_alone) {
  const auto kinds = [](bool trains) {
    Builder g;
    const ValueId weight = g.parameter("weight", {64, 32}, graph::Initializer::constant(1));
    const ValueId doubled = g.add(graph::Add{}, {weight, weight});
    const ValueId image = g.input("image", {DType::f32, {128, 64}});
    g.output("y", g.add(graph::MatMul{}, {image, doubled}));
    if (trains) {
      g.update(weight, doubled);
    }
    const Workload workload = workload_of(g.take());
    return std::pair(workload.works[doubled.index()].kind, workload.works.back().kind);
  };
  using enum Work::Kind;
  EXPECT_EQ(kinds(false), std::pair(nothing, contraction));
  EXPECT_EQ(kinds(true), std::pair(elementwise, contraction));
}

TEST(Workload, what_is_recomputed_is_not_moved_and_its_operands_are_read_instead) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 4, 8, 8}});
  const ValueId y = g.add(graph::LeakyRelu{}, {x});
  const ValueId kernel = g.parameter("kernel", {4, 4, 1, 1}, graph::Initializer::constant(0));
  const ValueId z = g.add(graph::Conv{}, {y, kernel});
  graph::Graph graph = g.take();
  graph.node(y).stored = false;
  graph.node(x).format = NumberFormat::bf16;
  graph.node(kernel).format = NumberFormat::bf16;
  const Workload workload = workload_of(graph);
  EXPECT_EQ(workload.works[y.index()].bytes(), 0);
  EXPECT_EQ(workload.works[z.index()].bytes_read, 2.0 * (4 * 64 + 16));
  EXPECT_EQ(workload.works[z.index()].bytes_written, 4.0 * 4 * 64);
  EXPECT_EQ(workload.works[z.index()].element_bytes, 2);
}

TEST(Liveness, a_value_lives_until_its_last_reader_and_hands_its_bytes_on) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 1, 10, 10}});
  const ValueId y = g.add(graph::LeakyRelu{}, {x});
  const ValueId z = g.add(graph::LeakyRelu{}, {y});  // in place of y
  g.output("sum", g.add(graph::Add{}, {x, z}));      // in place of x
  const Liveness liveness = liveness_of(g.graph());
  EXPECT_EQ(liveness.over_program, (std::vector<double>{400, 800, 800, 800 - 400 + 400}));
  EXPECT_EQ(liveness.peak, 800);
  EXPECT_EQ(liveness.always_live, 0);
  EXPECT_EQ(liveness.at_peak.size(), 2U);
}

TEST(Liveness, the_new_value_of_a_state_needs_no_memory_of_its_own) {
  const Liveness liveness = liveness_of(one_update(1000));
  EXPECT_EQ(liveness.always_live, 4000);
  EXPECT_EQ(liveness.peak, 4000 + 4);  // the gradient and the learning rate
  EXPECT_EQ(liveness.states.front().layer, "p");
}

// --- roofline ---

void set_range(Description& machine, const std::string& name, double low, double high) {
  for (Unknown& unknown : machine.unknowns) {
    if (unknown.figure.name == name) {
      unknown.low = low;
      unknown.high = high;
    }
  }
}

Description toy_roofline() {
  Description toy = machine_with("a100", {{"peak_float", 2e12},
                                          {"memory_bandwidth", 100e9},
                                          {"bandwidth_share", 1},
                                          {"processors", 1},
                                          {"tile_channels", 1},
                                          {"float_efficiency", 0.5},
                                          {"launch_time", 10e-6},
                                          {"kernel_latency", 0},
                                          {"winograd_savings", 1},
                                          {"link_bandwidth", 10e9}});
  toy.links.clear();
  toy.judged_with = "nobody";
  const auto ranged = [](const Unknown& unknown) {
    return unknown.figure.name == "float_efficiency" || unknown.figure.name == "launch_time";
  };
  for (Unknown& unknown : toy.unknowns) {
    if (!ranged(unknown)) {
      unknown.low = unknown.high = unknown.figure.value;
    }
  }
  set_range(toy, "float_efficiency", 0.4, 0.8);
  set_range(toy, "launch_time", 0.85e-6, 10e-6);
  return toy;
}

TEST(Roofline, a_kernel_takes_the_longer_of_arithmetic_and_memory_and_its_launch) {
  const Prediction prediction = predict(toy_roofline(), one_product(), kOnMachine);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::compute), kFlops / (2e12 * 0.5));
  EXPECT_EQ(seconds_on(prediction, Bound::memory), 0);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::launch), 10e-6);
  EXPECT_EQ(prediction.bound, Bound::launch);
  ASSERT_EQ(prediction.ops.size(), 1U);
  EXPECT_EQ(prediction.ops.front().op, "matmul");
}

TEST(Roofline, a_kernel_of_products_takes_its_latency_at_least) {
  const auto launch_seconds = [](double latency) {
    return seconds_on(
        predict(with_unknown(toy_roofline(), "kernel_latency", latency), one_product(), kOnMachine),
        Bound::launch);
  };
  const double alone = kFlops / 1e12 + 10e-6;
  EXPECT_DOUBLE_EQ(launch_seconds(0.5 * alone), 10e-6);
  EXPECT_DOUBLE_EQ(launch_seconds(3 * alone), 10e-6 + 2 * alone);
}

TEST(Roofline, winograds_algorithm_saves_nothing_where_channels_are_few) {
  const Description machine =
      with_unknown(with_unknown(toy_roofline(), "overlap", 0), "winograd_savings", 4);
  const auto compute_seconds = [&](double tile) {
    Builder g;
    const ValueId image = g.input("image", {DType::f32, {1, 8, 32, 32}});
    const ValueId kernel = g.input("kernel", {DType::f32, {8, 8, 3, 3}});
    g.output("y", g.add(graph::Conv{.window = {.pad = {0, 1, 1}}}, {image, kernel}));
    return seconds_on(predict(with_unknown(machine, "tile_channels", tile), g.take(), kOnMachine),
                      Bound::compute);
  };
  EXPECT_DOUBLE_EQ(compute_seconds(32), 4 * compute_seconds(8)) << "a sixteenth of a tile is full";
  EXPECT_DOUBLE_EQ(compute_seconds(12), 9.0 / 4 * compute_seconds(8)) << "4 / 9 of one is";
}

TEST(Roofline, narrow_memory_bounds_a_kernel_instead) {
  Description machine = machine_with("a100", {{"memory_bandwidth", 1e9}, {"bandwidth_share", 0.5}});
  const Prediction prediction = predict(machine, one_product(), kOnMachine);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::memory), kBytes / 0.5e9);
  EXPECT_EQ(prediction.bound, Bound::memory);
}

TEST(Roofline, arithmetic_and_traffic_add_up_as_far_as_they_do_not_overlap) {
  const double compute = kFlops / 1e12;
  const double memory = kBytes / 100e9;
  for (const double overlap : {1.0, 0.25, 0.0}) {
    Description machine = with_unknown(toy_roofline(), "overlap", overlap);
    const Prediction prediction = predict(machine, one_product(), kOnMachine);
    EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::compute), compute);
    EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::memory), (1 - overlap) * memory);
  }
}

struct Kernel {
  std::int64_t size = 3;
  std::int64_t stride = 1;
  bool gradient = false;
  NumberFormat format = NumberFormat::f32;
};

/// Of one convolution of 8 channels on 32 x 32 pixels, or of its kernel's gradient.
double seconds_of_kernel(const Kernel& asked, double winograd_savings) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 8, 32, 32}});
  const std::int64_t pad = (asked.size - 1) / 2;
  const graph::Window window{.stride = {1, asked.stride, asked.stride}, .pad = {0, pad, pad}};
  if (asked.gradient) {
    const std::int64_t side = 32 / asked.stride;
    const ValueId dy = g.input("dy", {DType::f32, {1, 8, side, side}});
    g.output("dk", g.add(graph::ConvKernelGradient{window, {asked.size, asked.size}}, {image, dy}));
  } else {
    const ValueId kernel = g.input("kernel", {DType::f32, {8, 8, asked.size, asked.size}});
    g.output("y", g.add(graph::Conv{window}, {image, kernel}));
  }
  graph::Graph graph = g.take();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    graph.node(ValueId(i)).format = asked.format;
  }
  // Without overlap, so that the time of arithmetic counts even where traffic takes longer.
  const Description machine = with_unknown(toy_roofline(), "overlap", 0);
  return seconds_on(
      predict(with_unknown(machine, "winograd_savings", winograd_savings), graph, kOnMachine),
      Bound::compute);
}

TEST(Roofline, winograds_algorithm_saves_arithmetic_of_3x3_kernels_and_their_gradients_only) {
  for (const bool gradient : {false, true}) {
    EXPECT_DOUBLE_EQ(seconds_of_kernel({.gradient = gradient}, 4),
                     seconds_of_kernel({.gradient = gradient}, 1) / 4);
    for (const Kernel other :
         {Kernel{.size = 5, .gradient = gradient}, Kernel{.stride = 2, .gradient = gradient}}) {
      EXPECT_DOUBLE_EQ(seconds_of_kernel(other, 4), seconds_of_kernel(other, 1));
    }
  }
}

TEST(Roofline, units_for_products_do_not_use_winograds_algorithm) {
  const Kernel half{.format = NumberFormat::bf16};
  EXPECT_DOUBLE_EQ(seconds_of_kernel(half, 4), seconds_of_kernel(half, 1));
}

TEST(Roofline, sums_per_channel_that_ride_move_nothing) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 8, 32, 32}});
  g.output("sums", g.add(graph::Statistics{}, {image}));
  const graph::Graph graph = g.take();
  const auto memory_seconds = [&](double riding) {
    return seconds_on(
        predict(with_unknown(toy_roofline(), "riding_sums", riding), graph, kOnMachine),
        Bound::memory);
  };
  EXPECT_GT(memory_seconds(0), 0);
  EXPECT_NEAR(memory_seconds(0.5), memory_seconds(0) / 2, 1e-15);
}

TEST(Roofline, the_error_bar_is_the_range_of_the_unknowns) {
  // Efficiency 0.4 to 0.8, launch 0.85 to 10 us; nothing was ever checked, and nothing is added.
  const Prediction prediction = predict(toy_roofline(), one_product(), kOnMachine);
  const double best = kFlops / 1e12;
  const double slow = kFlops / (2e12 * 0.4) - best;
  const double fast = std::hypot(best - kFlops / (2e12 * 0.8), 9.15e-6);
  EXPECT_NEAR(prediction.step.high.modelled_seconds(), best + 10e-6 + slow, 1e-12);
  EXPECT_NEAR(prediction.step.low.modelled_seconds(), best + 10e-6 - fast, 1e-12);
  EXPECT_EQ(prediction.past_error, std::nullopt);
}

TEST(Roofline, the_error_bar_is_wider_by_how_far_such_predictions_were_off) {
  Description machine = toy_roofline();
  const double without = predict(machine, one_product(), kOnMachine).step.high.modelled_seconds();
  machine.judged_with = "gpu";
  const Prediction prediction = predict(machine, one_product(), kOnMachine);
  ASSERT_TRUE(prediction.past_error);
  EXPECT_GT(prediction.past_error->rows, 10U);
  const double best = prediction.step.best.modelled_seconds();
  EXPECT_NEAR(prediction.step.high.modelled_seconds(),
              best + std::hypot(without - best, best * (prediction.past_error->factor - 1)), 1e-12);
}

TEST(Roofline, normalization_of_few_channels_reaches_a_part_of_the_bandwidth) {
  const auto seconds = [](std::int64_t channels) {
    Builder g;
    const ValueId x = g.input("x", {DType::f32, {1, channels, 4096 / channels, 64}});
    const ValueId s = g.parameter("s", {2, 1, channels}, graph::Initializer::constant(0));
    g.output("y", g.add(graph::ChannelAffine{}, {x, s}));
    const Description machine = machine_with("a100", {{"memory_bandwidth", 1e6},
                                                      {"bandwidth_share", 1},
                                                      {"channel_bandwidth_share", 0.25},
                                                      {"narrow_channels", 16}});
    const Workload workload = workload_of(g.graph());
    return seconds_on(predict(machine, g.graph(), kOnMachine), Bound::memory) * 1e6 /
           workload.works.back().bytes();
  };
  EXPECT_DOUBLE_EQ(seconds(8), 4);
  EXPECT_DOUBLE_EQ(seconds(16), 4);
  EXPECT_DOUBLE_EQ(seconds(32), 2);
  EXPECT_DOUBLE_EQ(seconds(64), 1);
  EXPECT_DOUBLE_EQ(seconds(128), 1);
}

TEST(Roofline, layouts_that_a_library_converts_cost_traffic_around_products_of_its_units) {
  graph::Graph graph = one_product();
  graph.numerics.tf32 = true;
  const auto memory = [&](double passes) {
    return seconds_on(predict(machine_with("a100", {{"layout_passes", passes},
                                                    {"memory_bandwidth", 1e9},
                                                    {"bandwidth_share", 1}}),
                              graph, kOnMachine),
                      Bound::memory);
  };
  EXPECT_NEAR(memory(3) / memory(1), 3, 1e-9);
}

TEST(Roofline, a_pool_needs_more_than_its_tensors) {
  const auto needed = [](double slack, double overhead) {
    return predict(machine_with("a100", {{"pool_slack", slack}, {"pool_overhead", overhead}}),
                   one_product(), kOnMachine)
        .memory.needed.modelled_bytes();
  };
  EXPECT_DOUBLE_EQ(needed(1, 0), kBytes);
  EXPECT_DOUBLE_EQ(needed(1.5, 1e6), 1.5 * kBytes + 1e6);
}

TEST(Roofline, replicas_agree_on_gradients_once_per_update) {
  const graph::Graph graph = one_update(1000000);
  const auto link = [&](int replicas, int accumulation) {
    return seconds_on(
        predict(
            toy_roofline(), graph,
            {.replicas = replicas, .accumulation = accumulation, .host_data = HostData::synthetic}),
        Bound::link);
  };
  EXPECT_EQ(link(1, 1), 0);
  EXPECT_DOUBLE_EQ(link(2, 1), 4e6 / 10e9);  // 2 (R - 1) / R is 1
  EXPECT_DOUBLE_EQ(link(4, 3), 1.5 * 4e6 / 10e9 / 3);
}

TEST(Roofline, a_batch_arrives_while_the_one_before_is_worked_on) {
  const Description machine =
      machine_with("a100", {{"host_bandwidth", 1e6}, {"launch_time", 1e-6}});
  const double arrival = (256 * 128 + 128 * 64) * 4 / 1e6;
  EXPECT_DOUBLE_EQ(step_seconds(machine, one_product(), {}), arrival);
}

// --- IPU ---

double utilisation(const Contraction& contraction) {
  const Description machine = target::find_machine("gc200");
  return contraction.multiply_adds() / contraction.rows / 64 /
         cycles_per_row(machine, contraction, ConvolutionMode::half_half);
}

TEST(IpuConvolution, utilisation_by_groups_of_channels_is_as_published) {
  EXPECT_NEAR(utilisation({1, 1, 8, 5, 5}), 0.08, 0.005);
  EXPECT_NEAR(utilisation({1, 8, 8, 3, 3}), 0.375, 0.0005);
  EXPECT_NEAR(utilisation({1, 8, 16, 1, 1}), 0.50, 0.005);
  EXPECT_NEAR(utilisation({1, 24, 24, 3, 3}), 0.56, 0.005);
  EXPECT_DOUBLE_EQ(utilisation({1, 16, 16, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(utilisation({1, 256, 256, 1, 1}), 1);
}

TEST(IpuConvolution, a_block_per_tile_costs_its_rows_and_the_fixed_parts) {
  const Description machine = target::find_machine("gc200");
  // Ten pixels for each of 1472 tiles, one block of 16 x 16 weights.
  const ConvolutionPlan plan =
      plan_convolution(machine, {14720, 16, 16, 1, 1}, ConvolutionMode::half_half, 1e6);
  EXPECT_DOUBLE_EQ(plan.compute_cycles, 4 * 10 + 64 + 6 * 54 + 109 + 2 * 14);
  EXPECT_NEAR(plan.exchange_bytes, 2 * (16 * 16 + 10 * 16), 1e-6);
  EXPECT_EQ(plan.supersteps, 1);
  EXPECT_NEAR(plan.temporary_bytes, plan.exchange_bytes + 2 * 10 * 16, 1e-6);
}

TEST(IpuConvolution, float_partial_sums_halve_the_units) {
  const Description machine = target::find_machine("gc200");
  const Contraction contraction{1472 * 1000, 64, 64, 3, 3};
  const double half =
      plan_convolution(machine, contraction, ConvolutionMode::half_half, 1e6).compute_cycles;
  const double mixed =
      plan_convolution(machine, contraction, ConvolutionMode::half_float, 1e6).compute_cycles;
  EXPECT_NEAR(mixed / half, 2, 0.1);
}

TEST(IpuConvolution, less_room_for_temporaries_costs_time) {
  const Description machine = target::find_machine("gc200");
  const Contraction contraction{2 * 140 * 140, 256, 256, 3, 3};
  const ConvolutionPlan roomy =
      plan_convolution(machine, contraction, ConvolutionMode::half_float, 400e3);
  const ConvolutionPlan tight =
      plan_convolution(machine, contraction, ConvolutionMode::half_float, 120e3);
  EXPECT_LE(tight.temporary_bytes, 120e3);
  EXPECT_GT(roomy.temporary_bytes, 120e3);
  EXPECT_GT(tight.compute_cycles + tight.exchange_bytes / 4,
            roomy.compute_cycles + roomy.exchange_bytes / 4);
}

TEST(Ipu, an_elementwise_op_is_one_superstep_without_exchange) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 1, 1472, 10}});
  g.output("y", g.add(graph::LeakyRelu{}, {x}));
  const Description machine = machine_with("gc200", {{"compute_efficiency", 1}, {"host_call", 0}});
  const Prediction prediction = predict(machine, g.graph(), kOnMachine);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::compute), (10 / 2 + 40) / 1.33e9);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::launch), 90 / 1.33e9);
  EXPECT_EQ(seconds_on(prediction, Bound::exchange), 0);
  EXPECT_EQ(prediction.launches, 1U);
}

TEST(Ipu, a_call_from_the_host_is_shared_by_its_iterations) {
  const Description machine =
      machine_with("gc200", {{"host_call", 2e-3}, {"host_bandwidth", 1.9e9}});
  const auto host = [&](const ExecutionOptions& options) {
    return seconds_on(predict(machine, one_product(), options), Bound::host);
  };
  EXPECT_DOUBLE_EQ(host({.iterations_per_call = 50, .host_data = HostData::synthetic}), 40e-6);
  EXPECT_DOUBLE_EQ(host({}), 2e-3 + (256 * 128 + 128 * 64) * 4 / 1.9e9);
}

TEST(Ipu, a_pipeline_shares_the_work_and_pays_for_filling_it) {
  const Description machine = machine_with("gc200", {{"host_call", 0}, {"sync_delay", 0}});
  const auto compute = [&](int pipeline, int iterations) {
    return seconds_on(predict(machine, one_product(),
                              {.pipeline = pipeline,
                               .iterations_per_call = iterations,
                               .host_data = HostData::synthetic}),
                      Bound::compute);
  };
  EXPECT_NEAR(compute(4, 9) / compute(1, 9), (9.0 + 3) / 9 / 4, 1e-12);
}

TEST(Ipu, what_does_not_fit_names_the_tile_and_the_largest_tensors) {
  Builder g;
  const ValueId x = g.input("x", {DType::f32, {1, 64, 2048, 2048}});  // 1 GiB
  g.output("y", g.add(graph::LeakyRelu{}, {x}));
  const MemoryVerdict memory = predict(target::find_machine("gc200"), g.graph(), kOnMachine).memory;
  EXPECT_EQ(memory.fits, Fit::no);
  EXPECT_EQ(memory.place, "the fullest of 1472 tiles");
  EXPECT_NEAR(memory.transient.modelled_bytes(), 1.2 * 1024 * 1024 * 1024 / 1472,
              8);  // of a grain
  ASSERT_FALSE(memory.largest.empty());
  EXPECT_EQ(memory.largest.front().layer, "x");
}

TEST(Ipu, a_verdict_that_hangs_on_unknowns_is_probable_on_the_side_of_the_best_estimate) {
  const auto verdict_of = [](std::int64_t columns) {
    Builder g;
    const ValueId x = g.input("x", {DType::f32, {1, 64, 1024, columns}});
    g.output("y", g.add(graph::LeakyRelu{}, {x}));
    return predict(target::find_machine("gc200"), g.graph(), kOnMachine).memory;
  };
  const MemoryVerdict below = verdict_of(2320);  // 608 MB of 940, and what lies beside them
  EXPECT_EQ(below.fits, Fit::probably);
  EXPECT_EQ(to_string(below.fits), "probably fits");
  EXPECT_LT(below.needed, below.available);
  EXPECT_GT(below.needed_high, below.available);
  const MemoryVerdict above = verdict_of(2560);
  EXPECT_EQ(above.fits, Fit::probably_not);
  EXPECT_EQ(to_string(above.fits), "probably does not fit");
  EXPECT_GT(above.needed, above.available);
  EXPECT_LT(above.needed_low, above.available);
}

// --- Gaudi ---

TEST(Hpu, a_product_takes_the_passes_of_the_best_geometry) {
  // float: 64 x 64 outputs at a time, so 4 passes of 128 cycles; one slice of 1500 / 2 cycles.
  const Prediction prediction = predict(target::find_machine("gaudi1"), one_product(), kOnMachine);
  EXPECT_NEAR(seconds_on(prediction, Bound::compute), (4 * 128 / 0.97 + 1500 / 2.0) / 1.8e9, 1e-15);
  EXPECT_EQ(prediction.launches, 1U);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::launch), 50e-6);
}

TEST(Hpu, few_channels_leave_the_matrix_engine_idle) {
  // 8 to 8 channels, 3x3, 16 bits: 8 of 64 columns, 72 of at least 128 in the sum: 0.07.
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 8, 512, 512}});
  const ValueId kernel = g.parameter("kernel", {8, 8, 3, 3}, graph::Initializer::constant(0));
  g.output("y", g.add(graph::Conv{{.stride = {1, 1, 1}, .pad = {0, 1, 1}}}, {image, kernel}));
  graph::Graph graph = g.take();
  graph.node(image).format = graph.node(kernel).format = NumberFormat::bf16;
  const Description machine = machine_with("gaudi1", {{"slice_cycles", 0},
                                                      {"memory_bandwidth", 1e15},
                                                      {"matrix_efficiency", 1},
                                                      {"unaligned_factor", 1}});
  const double flops = 2.0 * 512 * 512 * 8 * 8 * 9;
  const double compute = seconds_on(predict(machine, graph, kOnMachine), Bound::compute);
  EXPECT_NEAR(flops / compute / (2 * 16384 * 1.8e9), 8.0 / 64 * 72 / 128, 1e-9);
}

TEST(Hpu, eager_execution_launches_every_op) {
  const Prediction prediction =
      predict(target::find_machine("gaudi1"), two_products(),
              {.host_data = HostData::synthetic, .launching = Launching::per_op});
  EXPECT_EQ(prediction.launches, 2U);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::launch), 2 * 30e-6);
}

// --- RDU ---

TEST(Rdu, a_section_is_bound_by_its_boundary_and_pays_for_the_switch) {
  const Prediction prediction =
      predict(machine_with("sn30", {{"memory_bandwidth", 205e9}}), one_product(), kOnMachine);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::memory), kBytes / 205e9);
  EXPECT_DOUBLE_EQ(seconds_on(prediction, Bound::launch), 200e-6);
}

TEST(Rdu, ops_share_a_section_unless_each_is_to_have_its_own) {
  const Description machine = target::find_machine("sn30");
  const auto sections = [&](Launching launching) {
    return predict(machine, two_products(),
                   {.host_data = HostData::synthetic, .launching = launching})
        .launches;
  };
  EXPECT_EQ(sections(Launching::whole_program), 1U);
  EXPECT_EQ(sections(Launching::per_op), 2U);
  EXPECT_LT(step_seconds(machine, two_products(), kOnMachine),
            step_seconds(machine, two_products(),
                         {.host_data = HostData::synthetic, .launching = Launching::per_op}));
}

TEST(Rdu, a_section_that_is_cut_into_pieces_reads_the_rims_again) {
  Builder g;
  const ValueId image = g.input("image", {DType::f32, {1, 8, 1024, 1024}});
  const ValueId kernel = g.parameter("kernel", {8, 8, 3, 3}, graph::Initializer::constant(0));
  g.output("y", g.add(graph::Conv{{.stride = {1, 1, 1}, .pad = {0, 1, 1}}}, {image, kernel}));
  // Two buffers of 32 MiB and some weights in 17 MB: four pieces, each as a square of 512.
  const Description machine = machine_with("sn10", {{"sram", 17e6}, {"memory_bandwidth", 154e9}});
  const double out = 8.0 * 1024 * 1024 * 4;
  const double in = out + 8 * 8 * 9 * 4;
  const double halo = 514.0 * 514 / (512.0 * 512);
  EXPECT_NEAR(seconds_on(predict(machine, g.graph(), kOnMachine), Bound::memory),
              (in * halo + out) / 154e9, 1e-12);
}

TEST(Rdu, half_a_chip_has_half_the_bandwidth_to_the_memory_beside_it) {
  const Description machine = target::find_machine("sn30");
  const auto memory = [&](double share) {
    return seconds_on(
        predict(machine, one_product(), {.host_data = HostData::synthetic, .share = share}),
        Bound::memory);
  };
  EXPECT_DOUBLE_EQ(memory(0.5), 2 * memory(1));
}

TEST(Input, is_hidden_behind_a_step_unless_the_stack_waits_for_it) {
  Description machine = machine_with("gaudi1", {{"host_bandwidth", 1e9}, {"launch_time", 1}});
  const double arrival = (256 * 128 + 128 * 64) * 4 / 1e9;
  const double alone = step_seconds(machine, one_product(), kOnMachine);
  EXPECT_DOUBLE_EQ(step_seconds(machine, one_product(), {}), alone);
  machine.stacks.front().input = StackInput::waited;
  EXPECT_DOUBLE_EQ(step_seconds(machine, one_product(), {}), alone + arrival);
}

// --- options ---

TEST(PredictErrors, a_training_pipeline_needs_a_batch_for_each_stage) {
  EXPECT_THAT(
      [] {
        predict(target::find_machine("gc200"), one_update(10), {.accumulation = 6, .pipeline = 4});
      },
      ThrowsMessage<UserError>(HasSubstr("accumulate over at least 7 batches")));
  EXPECT_NO_THROW(
      predict(target::find_machine("gc200"), one_update(10), {.accumulation = 7, .pipeline = 4}));
}

TEST(PredictErrors, impossible_options_are_refused_by_name) {
  const Description gaudi = target::find_machine("gaudi1");
  const graph::Graph graph = one_product();
  EXPECT_THAT([&] { predict(gaudi, graph, {.pipeline = 2}); },
              ThrowsMessage<UserError>(HasSubstr("a pipeline of 2 was asked of Gaudi1")));
  EXPECT_THAT([&] { predict(gaudi, graph, {.replicas = 0}); },
              ThrowsMessage<UserError>(HasSubstr("the number of replicas is 0")));
  EXPECT_THAT([&] { predict(gaudi, graph, {.share = 2}); },
              ThrowsMessage<UserError>(HasSubstr("the share of a machine is 2")));
}

}  // namespace
}  // namespace cosmic::machine
