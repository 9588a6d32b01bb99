// conv(x) + r is a convolution that starts its sums at r: residual connections in inference, and
// the places where two gradients of the same image meet, then cost no pass over memory of their
// own.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

bool can_take_addend(const Node& node) {
  const bool is_conv = graph::op_if<graph::Conv>(node) != nullptr ||
                       graph::op_if<graph::ConvTranspose>(node) != nullptr;
  return is_conv && node.operands.size() <= 3;
}

Graph move(const Graph& graph) {
  const auto readers = readers_of(graph);
  return rewrite(
      graph,
      [&](Builder& g, ValueId id, std::span<const ValueId> operands) -> std::optional<ValueId> {
        const Node& add = graph.node(id);
        if (graph::op_if<graph::Add>(add) == nullptr) {
          return std::nullopt;
        }
        // The later operand is the better one: its inputs are not kept alive any longer than they
        // were.
        const std::size_t later = add.operands[0] < add.operands[1] ? 1 : 0;
        for (const std::size_t side : {later, 1 - later}) {
          const ValueId conv = add.operands[side];
          if (!can_take_addend(graph.node(conv)) || readers[conv.index()].size() != 1) {
            continue;
          }
          std::vector<ValueId> parts = g.graph().node(operands[side]).operands;
          if (parts.size() == 2) {
            parts.push_back(g.fill({graph::DType::f32, {add.type.dim(1)}}, 0));
          }
          parts.push_back(operands[1 - side]);
          return g.add(graph.node(conv).op, std::move(parts));
        }
        return std::nullopt;
      });
}

}  // namespace

Pass move_add_into_conv() {
  return {"move-add-into-conv",
          "after differentiation, which adds gradients up; before dead nodes are dropped, of which "
          "it makes some",
          move};
}

}  // namespace cosmic::compile
