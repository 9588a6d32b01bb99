// Every gradient rule against finite differences, from the list of cases.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "conformance/op_cases.hpp"
#include "conformance/run_case.hpp"
#include "core/random.hpp"
#include "graph/builder.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::conformance {
namespace {

using graph::ValueId;
using target::reference::Tensor;

graph::Adjoints adjoints_of(graph::Builder& builder, const graph::Node& node,
                            const graph::GradientArgs& args) {
  return std::visit(
      [&](const auto& op) { return std::decay_t<decltype(op)>::gradient(op, builder, args); },
      node.op);
}

/// A case's graph with, behind it, the gradients of sum(dy * y) for its op under test y. `dy` is
/// one more input. Only gradient rules and sums: what the compiler does with them has tests of its
/// own.
struct WithGradients {
  graph::Graph graph;
  std::map<ValueId, ValueId> gradient;  ///< of the values that have one
};

WithGradients with_gradients(const OpCase& op_case) {
  graph::Builder builder(op_case.graph);
  std::map<ValueId, ValueId> gradient;
  gradient[op_case.under_test] = builder.input("dy", builder.type(op_case.under_test));
  for (std::size_t i = op_case.under_test.index() + 1; i-- > 0;) {
    const ValueId id(i);
    if (!gradient.contains(id)) {
      continue;
    }
    const graph::Node node = builder.graph().node(id);
    const graph::Adjoints adjoints =
        adjoints_of(builder, node, {node.operands, id, gradient.at(id)});
    EXPECT_EQ(adjoints.refusal, "");
    for (std::size_t k = 0; k < adjoints.of.size(); ++k) {
      if (const std::optional<ValueId> part = adjoints.of[k]) {
        const ValueId operand = node.operands.at(k);
        EXPECT_EQ(builder.type(*part), builder.type(operand));
        const auto [found, first] = gradient.try_emplace(operand, *part);
        if (!first) {
          found->second = builder.add(graph::Add{}, {found->second, *part});
        }
      }
    }
  }
  return {builder.take(), std::move(gradient)};
}

Tensor draw_like(const graph::TensorType& type, const std::string& stream) {
  RandomStream random(2, stream);
  Tensor tensor = target::reference::zeros(type);
  for (double& number : tensor.data) {
    number = random.uniform(-1, 1);
  }
  return tensor;
}

double weighted_sum(const OpCase& op_case, const std::vector<Tensor>& inputs, const Tensor& dy) {
  const std::vector<Tensor> values = evaluate(op_case.graph, inputs, op_case.states);
  const Tensor& y = values[op_case.under_test.index()];
  double sum = 0;
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    sum += dy.data[i] * y.data[i];
  }
  return sum;
}

/// Central difference with respect to one number of one input.
double finite_difference(const OpCase& op_case, std::size_t input, std::size_t element,
                         const Tensor& dy) {
  constexpr double kStep = 1e-5;
  std::vector<Tensor> inputs = op_case.inputs;
  double& number = inputs[input].data[element];
  const double middle = number;
  number = middle + kStep;
  const double above = weighted_sum(op_case, inputs, dy);
  number = middle - kStep;
  const double below = weighted_sum(op_case, inputs, dy);
  return (above - below) / (2 * kStep);
}

class OpGradient : public testing::TestWithParam<OpCase> {};

TEST_P(OpGradient, agrees_with_finite_differences_or_is_refused_with_a_reason) {
  const OpCase& op_case = GetParam();
  const graph::Node& node = op_case.graph.node(op_case.under_test);
  {
    graph::Builder builder(op_case.graph);
    const ValueId dy = builder.input("dy", node.type);
    const graph::Adjoints adjoints =
        adjoints_of(builder, node, {node.operands, op_case.under_test, dy});
    if (adjoints.of.size() != node.operands.size()) {
      EXPECT_TRUE(adjoints.of.empty());
      EXPECT_NE(adjoints.refusal, "");
      return;
    }
  }
  if (!op_case.no_finite_differences.empty()) {
    GTEST_SKIP() << op_case.no_finite_differences;
  }
  const WithGradients program = with_gradients(op_case);
  const Tensor dy = draw_like(node.type, op_case.name);
  std::vector<Tensor> inputs = op_case.inputs;
  inputs.push_back(dy);
  const std::vector<Tensor> values = evaluate(program.graph, inputs, op_case.states);

  // A sample of each input's numbers, first and last among them, keeps large cases affordable.
  constexpr std::size_t kSamples = 24;
  for (std::size_t input = 0; input < op_case.inputs.size(); ++input) {
    const auto found = program.gradient.find(op_case.graph.inputs[input].value);
    if (found == program.gradient.end()) {
      continue;
    }
    const Tensor& gradient = values[found->second.index()];
    const std::size_t count = gradient.data.size();
    std::set<std::size_t> sample;
    for (std::size_t i = 0; i < kSamples; ++i) {
      sample.insert(i * (count - 1) / (kSamples - 1));
    }
    for (const std::size_t element : sample) {
      const double expected = finite_difference(op_case, input, element, dy);
      ASSERT_TRUE(agree(gradient.data[element], expected, 1e-7))
          << "input " << input << ", element " << element << ": " << gradient.data[element]
          << ", finite differences give " << expected;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, OpGradient, testing::ValuesIn(op_cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace cosmic::conformance
