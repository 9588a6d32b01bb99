#include "machine/forward_pass.hpp"

#include <set>

namespace cosmic::machine {

std::vector<bool> forward_pass(const graph::Graph& graph) {
  std::set<graph::ValueId> buffers;
  for (const graph::StateVariable& state : graph.states) {
    if (state.kind == graph::StateKind::buffer) {
      buffers.insert(state.value);
    }
  }
  std::vector<bool> forward(graph.size(), false);
  for (const graph::NamedValue& output : graph.outputs) {
    forward[output.value.index()] = !follows_gradients(graph, output.value);
  }
  for (const graph::StateUpdate& update : graph.updates) {
    if (buffers.contains(update.state)) {
      forward[update.value.index()] = true;
    }
  }
  for (std::size_t i = graph.size(); i-- > 0;) {
    if (forward[i]) {
      for (const graph::ValueId operand : graph.nodes()[i].operands) {
        forward[operand.index()] = true;
      }
    }
  }
  return forward;
}

}  // namespace cosmic::machine
