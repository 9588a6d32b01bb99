#include "target/cpu/small_images/gate_by_activation.hpp"

#include <map>

#include "target/cpu/small_images/image_layout.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

Graph read_activations(Graph graph) {
  // Values of large images are recomputed where they are read, operand and result alike.
  if (image_layout(graph) != graph::Layout::interleaved) {
    return graph;
  }
  std::map<ValueId, ValueId> activations;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    Node& node = graph.node(ValueId(i));
    if (const auto* activation = op_if<graph::LeakyRelu>(node)) {
      // A negative slope turns signs around.
      if (activation->slope >= 0) {
        activations[node.operands[0]] = ValueId(i);
      }
    } else if (op_if<graph::LeakyReluGradient>(node) != nullptr) {
      const auto found = activations.find(node.operands[0]);
      if (found != activations.end()) {
        node.operands[0] = found->second;
      }
    }
  }
  return graph;
}

}  // namespace

compile::Pass gate_by_activation() {
  return {"gate-by-activation", "before layouts are assigned, which its choice depends on too",
          read_activations};
}

}  // namespace cosmic::target::cpu
