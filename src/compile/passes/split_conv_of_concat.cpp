// conv(concat(a, b), W) = conv(a, Wa) + conv(b, Wb), where W is cut along its input channels. The
// sum is the addend of the second convolution, so neither the concatenated image nor a separate
// addition touches memory.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

Graph split(const Graph& graph) {
  return rewrite(
      graph,
      [&](Builder& g, ValueId id, std::span<const ValueId> operands) -> std::optional<ValueId> {
        const Node& conv = graph.node(id);
        if (graph::op_if<graph::Conv>(conv) == nullptr || conv.operands.size() > 3) {
          return std::nullopt;
        }
        const Node concat = g.graph().node(operands[0]);
        const auto* joined = graph::op_if<graph::Concat>(concat);
        if (joined == nullptr || joined->axis != 1) {
          return std::nullopt;
        }
        const ValueId kernel = operands[1];
        const std::int64_t filters = g.type(kernel).dim(0);
        const ValueId bias =
            operands.size() > 2 ? operands[2] : g.fill({graph::DType::f32, {filters}}, 0);
        std::optional<ValueId> sum;
        std::int64_t begin = 0;
        for (const ValueId part : concat.operands) {
          const std::int64_t end = begin + g.type(part).dim(1);
          const ValueId filter_part = g.add(graph::Slice{1, begin, end}, {kernel});
          const bool last = part == concat.operands.back() && end == g.type(operands[0]).dim(1);
          if (!sum) {
            sum = last ? g.add(conv.op, {part, filter_part, bias})
                       : g.add(conv.op, {part, filter_part});
          } else {
            const ValueId zero_or_bias = last ? bias : g.fill({graph::DType::f32, {filters}}, 0);
            sum = g.add(conv.op, {part, filter_part, zero_or_bias, *sum});
          }
          begin = end;
        }
        return sum;
      });
}

}  // namespace

Pass split_conv_of_concat() {
  return {"split-conv-of-concat",
          "after folding, so that it cuts the folded kernel; before differentiation, so that no "
          "gradient of a concatenation is ever built",
          split};
}

}  // namespace cosmic::compile
