#include <map>
#include <optional>

#include "compile/node_order.hpp"
#include "compile/passes/passes.hpp"

namespace cosmic::compile {
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
  Followers followers;
  for_each_node(graph, [&](ValueId id, const Node&) {
    const std::optional<ValueId> partner = partner_of(id);
    const bool read_before =
        partner && !readers[id.index()].empty() && readers[id.index()].front() < *partner;
    if (partner && !read_before) {
      followers[*partner].push_back(id);
    }
  });
  return with_followers(graph, followers, Sources::stay);
}

}  // namespace

Pass pair_gradients() {
  return {"pair-gradients",
          "after dead nodes are gone, so that only gradients somebody wants are paired", pair};
}

}  // namespace cosmic::compile
