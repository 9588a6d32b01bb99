// A step that scales its loss, on the host that stands for a device: what is skipped, and what is
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compile/pipeline.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/host_driver.hpp"

namespace cosmic::target::cuda {
namespace {

using conformance::OpCase;
using graph::ValueId;
using reference::Tensor;

constexpr compile::LossScaling kScaling{compile::LossScaling::Kind::dynamic, 1024, 3};

std::unique_ptr<Target> target_on_host() {
  return make_cuda_target(host_driver(std::make_shared<HostMachine>()), 0);
}

/// A linear layer and its loss; a buffer counts runs.
graph::Graph linear_loss() {
  graph::Builder g;
  const ValueId x = g.input("x", {graph::DType::f32, {4, 8}});
  const ValueId label = g.input("label", {graph::DType::u8, {4}});
  const ValueId w = g.parameter("w", {8, 3}, graph::Initializer::uniform(0.5));
  const ValueId seen = g.state("seen", {graph::DType::i64, {}}, graph::StateKind::buffer,
                               graph::Initializer::constant(0));
  g.update(seen, g.add(graph::Increment{1}, {seen}));
  const ValueId logits =
      g.add(graph::Softmax{1, graph::SoftmaxKind::logarithm}, {g.add(graph::MatMul{}, {x, w})});
  g.output(compile::kLossOutput, g.add(graph::NegativeLogLikelihood{}, {logits, label}));
  return g.take();
}

compile::Plan scaled_plan(const Target& target) {
  return compile::make_plan(
      linear_loss(),
      compile::training_passes(target.info(), {compile::Adam{}}, {}, {.loss_scaling = kScaling}),
      target.info(), {});
}

OpCase with_scale(const compile::Plan& plan, double scale) {
  OpCase program;
  program.graph = plan.graph;
  RandomStream random(5, "program");
  for (const graph::NamedValue& input : plan.graph.inputs) {
    Tensor tensor = reference::zeros(plan.graph.type(input.value));
    for (double& number : tensor.data) {
      number = tensor.type.dtype == graph::DType::f32
                   ? static_cast<double>(static_cast<float>(random.uniform(-1, 1)))
                   : std::floor(random.uniform(0, 3));
    }
    program.inputs.push_back(tensor);
  }
  for (const graph::StateVariable& state : plan.graph.states) {
    Tensor tensor = reference::zeros(plan.graph.type(state.value));
    for (double& number : tensor.data) {
      number = state.kind == graph::StateKind::parameter
                   ? static_cast<double>(static_cast<float>(random.uniform(-1, 1)))
                   : state.initializer.value;
    }
    program.states[state.name] = tensor;
  }
  program.states.at(compile::kLossScaleState).data = {scale};
  return program;
}

/// New values of states, by name.
std::map<std::string, std::vector<double>> states_after(const Target& target, const OpCase& program,
                                                        const compile::Plan& plan) {
  const std::vector<Tensor> results = conformance::run_on(target, program, plan, 1);
  std::map<std::string, std::vector<double>> states;
  for (std::size_t i = 0; i < plan.graph.updates.size(); ++i) {
    states[plan.graph.node(plan.graph.updates[i].state).name] =
        results[plan.graph.outputs.size() + i].data;
  }
  return states;
}

TEST(CudaLossScale, makes_the_step_that_the_reference_makes) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = scaled_plan(*target);
  const OpCase program = with_scale(plan, 1024);
  const std::vector<Tensor> expected = conformance::meaning_of(plan.graph, program);
  const std::vector<Tensor> results = conformance::run_on(*target, program, plan, 1);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    conformance::expect_agreement(results[i], expected[i], 1e-5, "result " + std::to_string(i));
  }
}

TEST(CudaLossScale, skips_a_step_with_infinite_gradients_and_halves_the_scale) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = scaled_plan(*target);
  OpCase program = with_scale(plan, 0x1p127);
  for (double& number : program.inputs[0].data) {
    number *= 64;  // so that the gradient of w is infinite, and the loss is not
  }
  const auto after = states_after(*target, program, plan);
  EXPECT_EQ(after.at(compile::kLossScaleState), std::vector<double>{0x1p126});
  EXPECT_EQ(after.at(compile::kGoodStepsState), std::vector<double>{0});
  EXPECT_EQ(after.at("seen"), std::vector<double>{1});
  for (const char* const name :
       {"w", "optimizer/w/exp_avg", "optimizer/w/exp_avg_sq", "optimizer/step"}) {
    EXPECT_EQ(after.at(name), program.states.at(name).data) << name;
  }
}

TEST(CudaLossScale, keeps_every_state_where_the_loss_is_no_number) {
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = scaled_plan(*target);
  OpCase program = with_scale(plan, 1024);
  program.inputs[0].data[5] = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, numbers] : states_after(*target, program, plan)) {
    EXPECT_EQ(numbers, program.states.at(name).data) << name;
  }
}

TEST(CudaLossScale, finds_the_one_number_among_many_that_is_not_finite) {
  const graph::TensorType large{graph::DType::f32, {200, 301}};
  graph::Builder g;
  const ValueId small = g.input("small", {graph::DType::f32, {3}});
  const ValueId many = g.input("many", large);
  g.output("finite", g.add(graph::AllFinite{}, {small, many, small}));
  OpCase op_case;
  op_case.graph = g.take();
  op_case.inputs = {reference::zeros({graph::DType::f32, {3}}), reference::zeros(large)};
  std::fill(op_case.inputs[1].data.begin(), op_case.inputs[1].data.end(), 1e38);
  const std::unique_ptr<Target> target = target_on_host();
  const compile::Plan plan = conformance::plan_for(op_case.graph, *target);
  EXPECT_EQ(conformance::run_on(*target, op_case, plan, 1)[0].data[0], 0);
  for (const std::size_t at : {0, 30000, 60199}) {
    OpCase lost = op_case;
    lost.inputs[1].data[at] = -std::numeric_limits<double>::infinity();
    EXPECT_TRUE(std::isnan(conformance::run_on(*target, lost, plan, 1)[0].data[0])) << at;
  }
}

}  // namespace
}  // namespace cosmic::target::cuda
