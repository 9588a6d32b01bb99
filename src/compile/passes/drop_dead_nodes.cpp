// Rewrites leave their originals behind, and differentiation builds an adjoint for every operand.
// Whatever no output and no update depends on goes; inputs and states stay, they are the contract
// with the caller.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Graph keep_live(const Graph& graph) {
  std::vector<bool> live(graph.size(), false);
  for (const graph::NamedValue& output : graph.outputs) {
    live[output.value.index()] = true;
  }
  for (const graph::StateUpdate& update : graph.updates) {
    live[update.value.index()] = true;
  }
  for (const graph::NamedValue& input : graph.inputs) {
    live[input.value.index()] = true;
  }
  for (const graph::StateVariable& state : graph.states) {
    live[state.value.index()] = true;
  }
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (live[i]) {
      for (const ValueId operand : graph.nodes()[i].operands) {
        live[operand.index()] = true;
      }
    }
  }
  Graph kept;
  std::vector<ValueId> map(graph.size());
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (live[id.index()]) {
      Node copy = node;
      for (ValueId& operand : copy.operands) {
        operand = map[operand.index()];
      }
      map[id.index()] = kept.append(std::move(copy));
    }
  });
  copy_boundary(graph, map, kept);
  return kept;
}

}  // namespace

Pass drop_dead_nodes() {
  return {
      "drop-dead-nodes",
      "after the rewrites, which leave their originals behind; before the target looks, so that "
      "it never sees what nobody reads",
      keep_live};
}

}  // namespace cosmic::compile
