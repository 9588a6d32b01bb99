#include "compile/node_order.hpp"

#include "compile/rewrite.hpp"

namespace cosmic::compile {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Graph with_followers(const Graph& graph, const Followers& followers, Sources sources) {
  std::vector<bool> placed(graph.size(), false);
  for (const auto& [leader, ids] : followers) {
    for (const ValueId id : ids) {
      placed[id.index()] = true;  // not at its old place
    }
  }
  Graph result;
  std::vector<ValueId> map(graph.size());
  const auto append = [&](ValueId id) {
    Node copy = graph.node(id);
    for (ValueId& operand : copy.operands) {
      operand = map[operand.index()];
    }
    map[id.index()] = result.append(std::move(copy));
    placed[id.index()] = true;
  };
  for_each_node(graph, [&](ValueId id, const Node& node) {
    const bool is_source =
        graph::op_if<graph::Input>(node) != nullptr || graph::op_if<graph::State>(node) != nullptr;
    if (sources == Sources::come_first && is_source) {
      append(id);
    }
  });
  for_each_node(graph, [&](ValueId id, const Node&) {
    if (placed[id.index()]) {
      return;
    }
    append(id);
    if (const auto found = followers.find(id); found != followers.end()) {
      for (const ValueId follower : found->second) {
        append(follower);
      }
    }
  });
  copy_boundary(graph, map, result);
  return result;
}

}  // namespace cosmic::compile
