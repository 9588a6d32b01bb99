// Every op of the conformance list, and whole training steps, with the code of the kernels run on
// the host: what the target makes of a plan agrees with the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compile/optimizer.hpp"
#include "compile/pipeline.hpp"
#include "conformance/op_cases.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "model/fashion_mnist.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::target::cuda {
namespace {

using conformance::OpCase;
using graph::ValueId;
using reference::Tensor;

std::unique_ptr<Target> target_on_host() {
  return make_cuda_target(host_driver(std::make_shared<HostMachine>()), 0);
}

class CudaOp : public testing::TestWithParam<OpCase> {};

TEST_P(CudaOp, is_supported_and_agrees_with_the_reference) {
  const OpCase& op_case = GetParam();
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = conformance::plan_for(op_case.graph, *target);
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    const Support support = target->supports(plan.graph, ValueId(i));
    ASSERT_TRUE(support.ok) << support.why_not;
  }
  for (const compile::Step& step : plan.steps.steps) {
    const std::vector<KernelChoice> choices = target->kernel_choices(plan, step);
    ASSERT_EQ(choices.size(), 1U);
    EXPECT_TRUE(choices.front().support.ok);
    EXPECT_NE(choices.front().name, "");
  }
  const std::vector<Tensor> expected = conformance::meaning_of(op_case.graph, op_case);
  const std::vector<Tensor> results = conformance::run_on(*target, op_case, plan, 1);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    conformance::expect_agreement(results[i], expected[i], op_case.tolerance,
                                  "result " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(, CudaOp, testing::ValuesIn(conformance::op_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(CudaOps, are_refused_where_rounding_sums_or_layout_have_no_kernels) {
  graph::Builder g;
  g.output("y", g.add(graph::Scale{2}, {g.input("x", {graph::DType::f32, {4}})}));
  graph::Graph graph = g.take();
  const std::unique_ptr<Target> target = target_on_host();
  graph.node(ValueId(1)).format = NumberFormat::bf16;
  EXPECT_TRUE(target->supports(graph, ValueId(1)).ok);
  graph.numerics.rounding = Rounding::stochastic;
  EXPECT_THAT(target->supports(graph, ValueId(1)).why_not,
              testing::HasSubstr("stochastic rounding has no kernels"));
  graph.node(ValueId(1)).format = NumberFormat::f32;
  graph.node(ValueId(1)).layout = graph::Layout::interleaved;
  EXPECT_THAT(target->supports(graph, ValueId(1)).why_not, testing::HasSubstr("not interleaved"));
  EXPECT_TRUE(target->supports_precision({.format = NumberFormat::f16}).ok);
  EXPECT_FALSE(
      target->supports_precision({.format = NumberFormat::f16, .partials = NumberFormat::f16}).ok);
}

TEST(CudaOps, of_many_terms_are_summed_in_chunks_and_keep_their_digits) {
  const graph::TensorType type{graph::DType::f32, {2, 1, 200, 300}};
  graph::Builder g;
  const ValueId x = g.input("x", type);
  g.output("sum", g.add(graph::ChannelSum{}, {x}));
  g.output("statistics", g.add(graph::Statistics{2, 1}, {x}));
  OpCase op_case;
  op_case.graph = g.take();
  RandomStream random(3, "chunks");
  Tensor tensor = reference::zeros(type);
  for (double& number : tensor.data) {
    number = static_cast<float>(random.uniform(0.5, 1.5));
  }
  op_case.inputs = {tensor};
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = conformance::plan_for(op_case.graph, *target);
  const std::vector<Tensor> expected = conformance::meaning_of(op_case.graph, op_case);
  const std::vector<Tensor> results = conformance::run_on(*target, op_case, plan, 1);
  for (std::size_t i = 0; i < results.size(); ++i) {
    conformance::expect_agreement(results[i], expected[i], 1e-6, "result " + std::to_string(i));
  }
}

TEST(CudaOps, with_a_label_that_is_no_class_have_no_loss) {
  graph::Builder g;
  const ValueId logits = g.input("logits", {graph::DType::f32, {1, 3, 2, 2}});
  const ValueId labels = g.input("labels", {graph::DType::u8, {1, 1, 2, 2}});
  const ValueId weights = g.add(graph::FixedClassWeights{1, 1, 1, 1, 3}, {});
  g.output("sums", g.add(graph::SegmentationSums{}, {logits, labels, weights}));
  OpCase op_case;
  op_case.graph = g.take();
  op_case.inputs = {reference::zeros(op_case.graph.type(logits)),
                    reference::zeros(op_case.graph.type(labels))};
  op_case.inputs[1].data[2] = 7;
  const std::unique_ptr<Target> target = target_on_host();
  const std::vector<Tensor> results =
      conformance::run_on(*target, op_case, conformance::plan_for(op_case.graph, *target), 1);
  EXPECT_TRUE(std::isnan(results[0].data[0]));
}

graph::Graph small_network() {
  model::UResNetOptions options;
  options.n_initial_filters = 4;
  options.depth = 2;
  options.blocks_per_layer = 1;
  options.blocks_deepest_layer = 1;
  options.blocks_final = 1;
  options.filter_size_deepest = 3;
  options.bottleneck_deepest = 6;
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {2, 3, 8, 12}});
  const ValueId label = g.input("label", {graph::DType::u8, {2, 3, 8, 12}});
  const ValueId logits = model::UResNet(options).logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::SegmentationLoss().loss(g, logits, label));
  return g.take();
}

graph::Graph pictures() {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {16, 1, 28, 28}});
  const ValueId label = g.input("label", {graph::DType::u8, {16}});
  const ValueId logits = model::FashionMnist().logits(g, image, model::Phase::training);
  g.output(compile::kLossOutput, model::NegativeLogLikelihoodLoss().loss(g, logits, label));
  return g.take();
}

/// A training step with numbers to start from.
OpCase training_step(const compile::Plan& plan) {
  OpCase program;
  program.graph = plan.graph;
  RandomStream random(5, "program");
  const auto draw = [&](const graph::TensorType& type, double bound) {
    Tensor tensor = reference::zeros(type);
    for (double& number : tensor.data) {
      number = type.dtype == graph::DType::f32
                   ? static_cast<double>(static_cast<float>(random.uniform(-bound, bound)))
                   : std::floor(random.uniform(0, 3));
    }
    return tensor;
  };
  for (const graph::NamedValue& input : plan.graph.inputs) {
    program.inputs.push_back(draw(plan.graph.type(input.value), 1));
    if (input.name == compile::kLearningRateInput) {
      program.inputs.back().data = {0x1p-5};
    }
  }
  for (const graph::StateVariable& state : plan.graph.states) {
    Tensor tensor = reference::zeros(plan.graph.type(state.value));
    if (state.initializer.kind == graph::Initializer::Kind::uniform) {
      tensor = draw(tensor.type, state.initializer.value);
    } else {
      std::fill(tensor.data.begin(), tensor.data.end(), state.initializer.value);
    }
    program.states[state.name] = tensor;
  }
  return program;
}

compile::Plan plan_of(const Target& target, const compile::Optimizer& optimizer,
                      const compile::Precision& precision = {},
                      graph::Graph (*network)() = small_network) {
  return compile::make_plan(network(),
                            compile::training_passes(target.info(), {optimizer}, {}, precision),
                            target.info(), {});
}

struct FormatCase {
  std::string name;
  graph::Graph (*network)();
  compile::Precision precision;
  double tolerance;
};

/// Outputs come first, then states.
std::string name_of_result(const graph::Graph& graph, std::size_t i) {
  return i < graph.outputs.size() ? graph.outputs[i].name
                                  : graph.node(graph.updates[i - graph.outputs.size()].state).name;
}

class CudaProgramIn : public testing::TestWithParam<FormatCase> {};

TEST_P(CudaProgramIn, a_format_gives_what_the_reference_gives) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan =
      plan_of(*target, compile::Sgd{.momentum = 0.5}, GetParam().precision, GetParam().network);
  const OpCase program = training_step(plan);
  const std::vector<Tensor> expected = conformance::meaning_of(plan.graph, program);
  const std::vector<Tensor> results = conformance::run_on(*target, program, plan, 1);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    double largest = 0;
    for (const double number : expected[i].data) {
      largest = std::max(largest, std::abs(number));
    }
    for (std::size_t k = 0; k < results[i].data.size(); ++k) {
      EXPECT_NEAR(results[i].data[k], expected[i].data[k], GetParam().tolerance * (1 + largest))
          << name_of_result(plan.graph, i) << ", element " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    , CudaProgramIn,
    testing::Values(
        FormatCase{"planes_float32", small_network, {}, 2e-4},
        FormatCase{"planes_bfloat16", small_network, {.format = NumberFormat::bf16}, 0x1p-4},
        FormatCase{"planes_float16", small_network, {.format = NumberFormat::f16}, 0x1p-5},
        FormatCase{"pictures_float32", pictures, {}, 2e-4},
        FormatCase{"pictures_bfloat16", pictures, {.format = NumberFormat::bf16}, 0x1p-4},
        FormatCase{"pictures_float16", pictures, {.format = NumberFormat::f16}, 0x1p-5}),
    [](const auto& instance) { return instance.param.name; });

TEST(CudaProgram, keeps_every_state_where_the_loss_is_no_number) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = plan_of(*target, compile::Adam{});
  ASSERT_TRUE(plan.graph.guard.has_value());
  OpCase program = training_step(plan);
  program.inputs[0].data[5] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Tensor> results = conformance::run_on(*target, program, plan, 1);
  for (std::size_t i = 0; i < plan.graph.updates.size(); ++i) {
    const std::string& name = plan.graph.node(plan.graph.updates[i].state).name;
    EXPECT_EQ(results[plan.graph.outputs.size() + i].data, program.states.at(name).data) << name;
  }
}

TEST(CudaProgram, accounts_for_every_op) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = plan_of(*target, compile::Adam{});
  std::vector<std::pair<std::string, graph::TensorType>> states;
  for (const graph::StateVariable& state : plan.graph.states) {
    states.emplace_back(state.name, plan.graph.type(state.value));
  }
  EXPECT_NO_THROW(compile_all(*target, plan, target->make_bank(states), {}));
}

}  // namespace
}  // namespace cosmic::target::cuda
