#include "target/cpu/small_images/gate_before_unpooling.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "target/cpu/small_images/image_layout.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::ValueId;

bool is_output(const Graph& graph, ValueId id) {
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const graph::NamedValue& output) { return output.value == id; });
}

/// The max pool that `gradient` belongs to.
std::optional<ValueId> pooled(const Graph& graph, const Node& gradient) {
  const auto& window = std::get<graph::MaxPoolGradient>(gradient.op).window;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.nodes()[i];
    const auto* pool = op_if<graph::MaxPool>(node);
    if (pool != nullptr && pool->window == window && node.operands[0] == gradient.operands[0]) {
      return ValueId(i);
    }
  }
  return std::nullopt;
}

Graph swap_gates(Graph graph) {
  // Large images are gated row by row, where they are read.
  if (image_layout(graph) != graph::Layout::interleaved) {
    return graph;
  }
  const auto readers = readers_of(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    Node& gate = graph.node(ValueId(i));
    const auto* const gating = op_if<graph::LeakyReluGradient>(gate);
    if (gating == nullptr) {
      continue;
    }
    const ValueId spread_id = gate.operands[1];
    Node& spread = graph.node(spread_id);
    const auto* const unpooling = op_if<graph::MaxPoolGradient>(spread);
    if (unpooling == nullptr || spread.operands[0] != gate.operands[0] ||
        readers[spread_id.index()].size() != 1 || is_output(graph, spread_id)) {
      continue;
    }
    if (const std::optional<ValueId> pool = pooled(graph, spread)) {
      const ValueId operand = gate.operands[0];
      const ValueId dy = spread.operands[1];
      graph::AnyOp unpool = *unpooling;
      spread.op = *gating;
      gate.op = std::move(unpool);
      std::swap(gate.name, spread.name);
      spread.operands = {*pool, dy};
      spread.type = graph.type(dy);
      gate.operands = {operand, spread_id};
    }
  }
  return graph;
}

}  // namespace

compile::Pass gate_before_unpooling() {
  return {"gate-before-unpooling",
          "after gates read activations, which pools read too; before layouts are assigned",
          swap_gates};
}

}  // namespace cosmic::target::cpu
