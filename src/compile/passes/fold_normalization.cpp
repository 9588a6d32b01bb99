// In evaluation the statistics are state, so a normalisation is a fixed affine map per channel, and
// conv(x, W) * s + t = conv(x, W * s) + t. The small products W * s are nodes of the program that
// depend on state alone: a target computes them once, not at every run.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

bool is_conv(const Node& node) {
  return graph::op_if<graph::Conv>(node) != nullptr ||
         graph::op_if<graph::ConvTranspose>(node) != nullptr;
}

/// Values that depend on nothing but state.
std::vector<bool> fixed_values(const Graph& graph) {
  std::vector<bool> fixed(graph.size(), false);
  for_each_node(graph, [&](ValueId id, const Node& node) {
    bool all = graph::op_if<graph::Input>(node) == nullptr;
    for (const ValueId operand : node.operands) {
      all = all && fixed[operand.index()];
    }
    fixed[id.index()] = all;
  });
  return fixed;
}

Graph fold(const Graph& graph) {
  const std::vector<bool> fixed = fixed_values(graph);
  const auto readers = readers_of(graph);
  return rewrite(
      graph,
      [&](Builder& g, ValueId id, std::span<const ValueId> operands) -> std::optional<ValueId> {
        const Node& affine = graph.node(id);
        if (graph::op_if<graph::ChannelAffine>(affine) == nullptr) {
          return std::nullopt;
        }
        const ValueId old_conv = affine.operands[0];
        const Node& conv = graph.node(old_conv);
        const ValueId old_coefficients = affine.operands[1];
        if (!is_conv(conv) || conv.operands.size() > 3 || readers[old_conv.index()].size() != 1 ||
            !fixed[old_coefficients.index()] || graph.type(old_coefficients).dim(1) != 1) {
          return std::nullopt;
        }
        const ValueId coefficients = operands[1];
        // The convolution itself was copied already and is dead now; its operands are still wanted.
        const std::vector<ValueId> parts = g.graph().node(operands[0]).operands;
        const bool transposed = graph::op_if<graph::ConvTranspose>(conv) != nullptr;
        const std::int64_t channels = graph.type(old_conv).dim(1);
        const ValueId bias =
            parts.size() > 2 ? parts[2] : g.fill({graph::DType::f32, {channels}}, 0);
        const ValueId kernel =
            g.add(graph::ScaleFilters{transposed ? 1 : 0}, {parts[1], coefficients});
        const ValueId row = g.add(graph::Reshape{{1, channels}}, {bias});
        const ValueId moved = g.add(graph::ChannelAffine{}, {row, coefficients});
        const ValueId folded_bias = g.add(graph::Reshape{{channels}}, {moved});
        return g.add(conv.op, {parts[0], kernel, folded_bias});
      });
}

}  // namespace

Pass fold_normalization() {
  return {"fold-normalization", "first: it must see the convolution right before the normalisation",
          fold};
}

}  // namespace cosmic::compile
