#include "compile/rewrite.hpp"

namespace cosmic::compile {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

Graph rewrite(const Graph& graph, const Replace& replace) {
  Builder builder;
  std::vector<ValueId> map(graph.size());
  // The builder owns the graph under construction; copies bypass its checks, since the types of
  // unchanged nodes are unchanged too.
  Graph copied;
  const auto append_copy = [&](const Node& node, std::vector<ValueId> operands) {
    copied = builder.take();
    Node copy = node;
    copy.operands = std::move(operands);
    const ValueId id = copied.append(std::move(copy));
    builder = Builder(std::move(copied));
    return id;
  };
  for_each_node(graph, [&](ValueId id, const Node& node) {
    std::vector<ValueId> operands;
    operands.reserve(node.operands.size());
    for (const ValueId operand : node.operands) {
      operands.push_back(map[operand.index()]);
    }
    builder.set_scope(node.name);
    builder.set_stage(node.stage);
    const std::optional<ValueId> replaced = replace(builder, id, operands);
    map[id.index()] = replaced ? *replaced : append_copy(node, std::move(operands));
  });
  Graph result = builder.take();
  copy_boundary(graph, map, result);
  return result;
}

void copy_boundary(const Graph& from, const std::vector<ValueId>& map, Graph& to) {
  for (const graph::NamedValue& input : from.inputs) {
    to.inputs.push_back({input.name, map[input.value.index()]});
  }
  for (const graph::NamedValue& output : from.outputs) {
    to.outputs.push_back({output.name, map[output.value.index()]});
  }
  std::vector<graph::StateVariable> states;
  for (graph::StateVariable state : from.states) {
    state.value = map[state.value.index()];
    states.push_back(std::move(state));
  }
  states.insert(states.end(), to.states.begin(), to.states.end());
  to.states = std::move(states);
  for (const graph::StateUpdate& update : from.updates) {
    to.updates.push_back({map[update.state.index()], map[update.value.index()], update.guard});
  }
  if (from.guard) {
    to.guard = map[from.guard->index()];
  }
  if (from.gradient_guard) {
    to.gradient_guard = map[from.gradient_guard->index()];
  }
  to.numerics = from.numerics;
  if (from.numerics.runs) {
    to.numerics.runs = map[from.numerics.runs->index()];
  }
}

}  // namespace cosmic::compile
