#include "conformance/run_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "target/reference/evaluate.hpp"

namespace cosmic::conformance {

using target::reference::Tensor;

namespace {

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.type.bytes()));
  to_bytes(tensor, bytes);
  return bytes;
}

}  // namespace

compile::Plan plan_for(const graph::Graph& graph, const target::Target& target,
                       const compile::PipelineOptions& options) {
  const compile::TargetInfo info = target.info();
  return compile::make_plan(graph, compile::finishing_passes(info), info, options);
}

std::vector<Tensor> meaning_of(const graph::Graph& graph, const OpCase& op_case) {
  const std::vector<Tensor> values = evaluate(graph, op_case.inputs, op_case.states);
  std::vector<Tensor> results;
  for (const graph::NamedValue& output : graph.outputs) {
    results.push_back(values[output.value.index()]);
  }
  for (const graph::StateUpdate& update : graph.updates) {
    results.push_back(values[update.value.index()]);
  }
  return results;
}

std::vector<Tensor> run_on(const target::Target& target, const OpCase& op_case,
                           const compile::Plan& plan, int threads) {
  std::vector<std::pair<std::string, graph::TensorType>> states;
  for (const auto& [name, value] : op_case.states) {
    states.emplace_back(name, value.type);
  }
  const std::shared_ptr<target::StateBank> bank = target.make_bank(states);
  for (const auto& [name, value] : op_case.states) {
    bank->write(name, bytes_of(value));
  }
  const auto executable =
      target.compile(plan, bank, {.threads = threads, .work_worth_sharing = 0, .progress = {}});

  std::vector<std::vector<std::byte>> input_bytes;
  for (const Tensor& input : op_case.inputs) {
    input_bytes.push_back(bytes_of(input));
  }
  std::vector<Tensor> results;
  std::vector<std::vector<std::byte>> output_bytes;
  for (const graph::NamedValue& output : op_case.graph.outputs) {
    results.push_back({op_case.graph.type(output.value), {}});
    output_bytes.emplace_back(static_cast<std::size_t>(results.back().type.bytes()));
  }
  const std::vector<target::RunInput> inputs(input_bytes.begin(), input_bytes.end());
  const std::vector<std::span<std::byte>> outputs(output_bytes.begin(), output_bytes.end());
  executable->run(inputs, outputs);

  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = target::reference::from_bytes(results[i].type, output_bytes[i]);
  }
  for (const graph::StateUpdate& update : op_case.graph.updates) {
    const graph::Node& state = op_case.graph.node(update.state);
    std::vector<std::byte> bytes(static_cast<std::size_t>(state.type.bytes()));
    bank->read(state.name, bytes);
    results.push_back(target::reference::from_bytes(state.type, bytes));
  }
  return results;
}

bool agree(double value, double expected, double tolerance) {
  if (value == expected) {  // also two infinities, whose difference is no number
    return true;
  }
  return std::isnan(expected) ? std::isnan(value)
                              : std::abs(value - expected) <= tolerance * (1 + std::abs(expected));
}

void expect_agreement(const Tensor& value, const Tensor& expected, double tolerance,
                      const std::string& what) {
  ASSERT_EQ(value.type, expected.type) << what;
  ASSERT_EQ(value.data.size(), expected.data.size()) << what;
  for (std::size_t i = 0; i < value.data.size(); ++i) {
    ASSERT_TRUE(agree(value.data[i], expected.data[i], tolerance))
        << what << ", element " << i << " of " << value.type << ": " << value.data[i]
        << ", expected " << expected.data[i];
  }
}

}  // namespace cosmic::conformance
