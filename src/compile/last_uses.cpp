#include "compile/last_uses.hpp"

#include <algorithm>

namespace cosmic::compile {

using graph::Graph;
using graph::Node;
using graph::ValueId;

std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    last[i] = i;
  }
  for (const graph::NamedValue& output : graph.outputs) {
    last[output.value.index()] = graph.size();
  }
  for (const graph::StateUpdate& update : graph.updates) {
    last[update.value.index()] = graph.size();
  }
  for (std::size_t i = graph.size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const std::size_t needed_until = node.stored ? i : last[i];
    for (const ValueId operand : node.operands) {
      last[operand.index()] = std::max(last[operand.index()], needed_until);
    }
  }
  return last;
}

}  // namespace cosmic::compile
