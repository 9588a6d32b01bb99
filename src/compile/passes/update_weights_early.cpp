#include <algorithm>

#include "compile/node_order.hpp"
#include "compile/passes/passes.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

using Readers = std::vector<std::vector<ValueId>>;

bool is_source(const Node& node) {
  return op_if<graph::Input>(node) != nullptr || op_if<graph::State>(node) != nullptr;
}

/// Moment and step of a gradient, as far as they can come right after it: what else they need is
/// there, and nobody later still wants the value that they replace.
std::vector<ValueId> updates_from(const Graph& graph, const Readers& readers, ValueId gradient) {
  std::vector<ValueId> updates;
  for (ValueId last = gradient; readers[last.index()].size() == 1; last = updates.back()) {
    const ValueId next = readers[last.index()].front();
    const Node& node = graph.node(next);
    const auto is_there = [&](ValueId operand) {
      return operand == last || operand < gradient || is_source(graph.node(operand));
    };
    const auto has_been = [&](ValueId reader) { return reader == next || reader < gradient; };
    const auto& replaced = readers[node.operands[0].index()];
    if ((op_if<graph::Moment>(node) == nullptr && op_if<graph::SgdStep>(node) == nullptr) ||
        !std::all_of(node.operands.begin(), node.operands.end(), is_there) ||
        !std::all_of(replaced.begin(), replaced.end(), has_been)) {
      break;
    }
    updates.push_back(next);
  }
  return updates;
}

Graph move_updates(const Graph& graph) {
  const Readers readers = readers_of(graph);
  Followers followers;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (op_if<graph::MatMul>(node) == nullptr) {
      return;
    }
    if (std::vector<ValueId> updates = updates_from(graph, readers, id); !updates.empty()) {
      followers[id] = std::move(updates);
    }
  });
  if (followers.empty()) {
    return graph;
  }
  return with_followers(graph, followers, Sources::come_first);
}

}  // namespace

Pass update_weights_early() {
  return {"update-weights-early",
          "after dead nodes are gone, so that a gradient nobody else reads is known to be so",
          move_updates};
}

}  // namespace cosmic::compile
