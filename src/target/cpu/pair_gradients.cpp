#include "target/cpu/pair_gradients.hpp"

#include <map>

#include "compile/rewrite.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Graph pair(const Graph& graph) {
  // The convolution whose kernel a gradient belongs to is known by its dy.
  std::map<ValueId, ValueId> image_gradients;
  for_each_node(graph, [&](ValueId id, const Node& node) {
    if (graph::op_if<graph::ConvTranspose>(node) != nullptr) {
      image_gradients[node.operands[0]] = id;
    }
  });
  const auto partner_of = [&](ValueId id) -> std::optional<ValueId> {
    const Node& node = graph.node(id);
    if (graph::op_if<graph::ConvKernelGradient>(node) == nullptr) {
      return std::nullopt;
    }
    const auto found = image_gradients.find(node.operands[1]);
    return found != image_gradients.end() && found->second > id ? std::optional(found->second)
                                                                : std::nullopt;
  };
  const auto readers = readers_of(graph);
  std::map<ValueId, std::vector<ValueId>> followers;
  for_each_node(graph, [&](ValueId id, const Node&) {
    const std::optional<ValueId> partner = partner_of(id);
    const bool read_before =
        partner && !readers[id.index()].empty() && readers[id.index()].front() < *partner;
    if (partner && !read_before) {
      followers[*partner].push_back(id);
    }
  });
  std::vector<bool> moved(graph.size(), false);
  for (const auto& [partner, ids] : followers) {
    for (const ValueId id : ids) {
      moved[id.index()] = true;
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
  };
  for_each_node(graph, [&](ValueId id, const Node&) {
    if (moved[id.index()]) {
      return;
    }
    append(id);
    if (const auto found = followers.find(id); found != followers.end()) {
      for (const ValueId follower : found->second) {
        append(follower);
      }
    }
  });
  compile::copy_boundary(graph, map, result);
  return result;
}

}  // namespace

compile::Pass pair_gradients() {
  return {"pair-gradients",
          "after dead nodes are gone, so that only gradients somebody wants are paired", pair};
}

}  // namespace cosmic::target::cpu
