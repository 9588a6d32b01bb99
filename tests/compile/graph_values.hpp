// What a small graph computes on the reference, with numbers drawn for its inputs and states by
// name: two graphs with the same boundary get the same numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "graph/graph.hpp"
#include "target/reference/evaluate.hpp"

namespace cosmic::compile {

using target::reference::Tensor;

/// Between 0.2 and 1, so that anything may be a variance; labels are 0, 1 or 2.
inline Tensor draw(const graph::TensorType& type, const std::string& name) {
  RandomStream random(3, name);
  Tensor tensor = target::reference::zeros(type);
  for (double& number : tensor.data) {
    number =
        type.dtype == graph::DType::f32 ? random.uniform(0.2, 1) : std::floor(random.uniform(0, 3));
  }
  return tensor;
}

/// Outputs and new values of states, by name.
inline std::map<std::string, std::vector<double>> results(const graph::Graph& graph) {
  std::vector<Tensor> inputs;
  for (const graph::NamedValue& input : graph.inputs) {
    inputs.push_back(draw(graph.type(input.value), input.name));
  }
  target::reference::States states;
  for (const graph::StateVariable& state : graph.states) {
    states.emplace(state.name, draw(graph.type(state.value), state.name));
  }
  const std::vector<Tensor> values = evaluate(graph, inputs, states);
  std::map<std::string, std::vector<double>> results;
  for (const graph::NamedValue& output : graph.outputs) {
    results[output.name] = values[output.value.index()].data;
  }
  for (const graph::StateUpdate& update : graph.updates) {
    results["new " + graph.node(update.state).name] = values[update.value.index()].data;
  }
  return results;
}

/// The largest difference between the results of two graphs; infinite if they have not the same.
inline double distance(const graph::Graph& a, const graph::Graph& b) {
  const auto of_a = results(a);
  const auto of_b = results(b);
  double most = of_a.size() == of_b.size() ? 0 : INFINITY;
  for (const auto& [name, values] : of_a) {
    const auto found = of_b.find(name);
    if (found == of_b.end() || found->second.size() != values.size()) {
      return INFINITY;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      most = std::max(most, std::abs(values[i] - found->second[i]));
    }
  }
  return most;
}

template <class Op>
std::size_t count(const graph::Graph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes().begin(), graph.nodes().end(),
                    [](const graph::Node& node) { return graph::op_if<Op>(node) != nullptr; }));
}

}  // namespace cosmic::compile
