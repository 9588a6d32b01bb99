// Interpolation weights sum to one and act on pixels; a 1x1 convolution acts on channels. So
// conv(up(x)) = up(conv(x)), bias included, and the right-hand side convolves a quarter of the
// pixels. Statistics that follow still see the large tensor, as they must.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

bool is_pointwise_conv(const Graph& graph, const Node& node) {
  const auto* conv = graph::op_if<graph::Conv>(node);
  if (conv == nullptr || !(conv->window == graph::Window{}) || node.operands.size() > 3) {
    return false;
  }
  const graph::TensorType& kernel = graph.type(node.operands[1]);
  return kernel.elements() == kernel.dim(0) * kernel.dim(1);
}

Graph commute(const Graph& graph) {
  return rewrite(
      graph,
      [&](Builder& g, ValueId id, std::span<const ValueId> operands) -> std::optional<ValueId> {
        const Node& conv = graph.node(id);
        if (!is_pointwise_conv(graph, conv)) {
          return std::nullopt;
        }
        const Node& upsample = g.graph().node(operands[0]);
        if (graph::op_if<graph::Upsample>(upsample) == nullptr) {
          return std::nullopt;
        }
        const graph::AnyOp enlarge = upsample.op;
        std::vector<ValueId> parts(operands.begin(), operands.end());
        parts[0] = upsample.operands[0];
        return g.add(enlarge, {g.add(conv.op, std::move(parts))});
      });
}

}  // namespace

Pass commute_upsample_with_conv() {
  return {"commute-upsample-with-conv",
          "before differentiation, so that the backward pass works at the small size too", commute};
}

}  // namespace cosmic::compile
