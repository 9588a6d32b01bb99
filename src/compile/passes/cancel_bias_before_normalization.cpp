// A normalisation with batch statistics subtracts the mean, and with it any bias in front of it.
// The gradient of that bias is a sum over all pixels that is zero but for round-off; an adaptive
// optimizer would even turn the round-off into full steps. Replacing the sum by zero saves a pass
// over the image per layer and is the exact result.
#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::NormCoefficientsGradient;
using graph::ValueId;

/// The op of `id` if it is a Wanted, else null; and its node through `node`.
template <class Wanted>
const Wanted* match(const Graph& graph, ValueId id, const Node*& node) {
  node = &graph.node(id);
  return graph::op_if<Wanted>(*node);
}

/// Is this scale(dz) + statistics_gradient, all of one normalisation: the gradient of its input?
bool is_normalization_gradient(const Graph& graph, ValueId scaled, ValueId through_statistics) {
  const Node* scale = nullptr;
  const Node* statistics_gradient = nullptr;
  const auto* gradient =
      match<graph::StatisticsGradient>(graph, through_statistics, statistics_gradient);
  if (match<graph::ChannelScale>(graph, scaled, scale) == nullptr || gradient == nullptr) {
    return false;
  }
  const ValueId x = statistics_gradient->operands[0];
  const ValueId statistics = statistics_gradient->operands[1];
  const ValueId dz = scale->operands[0];
  const Node* coefficients = nullptr;
  const Node* coefficients_gradient = nullptr;
  const Node* products = nullptr;
  if (match<graph::NormCoefficients>(graph, scale->operands[1], coefficients) == nullptr) {
    return false;
  }
  const auto* part = match<NormCoefficientsGradient>(graph, statistics_gradient->operands[2],
                                                     coefficients_gradient);
  if (part == nullptr || part->of != NormCoefficientsGradient::Of::statistics) {
    return false;
  }
  if (match<graph::ChannelProducts>(graph, coefficients_gradient->operands[2], products) ==
      nullptr) {
    return false;
  }
  return gradient->pooled_channels == 1 && coefficients->operands[0] == statistics &&
         coefficients_gradient->operands[0] == statistics &&
         coefficients_gradient->operands[1] == coefficients->operands[1] &&
         products->operands[0] == x && products->operands[1] == dz;
}

bool sums_to_zero(const Graph& graph, ValueId id) {
  const Node& node = graph.node(id);
  // The adjoint of an upsampling hands every pixel of dy on with weights that sum to one.
  if (graph::op_if<graph::UpsampleGradient>(node) != nullptr) {
    return sums_to_zero(graph, node.operands[0]);
  }
  return graph::op_if<graph::Add>(node) != nullptr &&
         (is_normalization_gradient(graph, node.operands[0], node.operands[1]) ||
          is_normalization_gradient(graph, node.operands[1], node.operands[0]));
}

Graph cancel(const Graph& graph) {
  return rewrite(graph,
                 [&](Builder& g, ValueId id, std::span<const ValueId>) -> std::optional<ValueId> {
                   const Node& node = graph.node(id);
                   if (graph::op_if<graph::ChannelSum>(node) == nullptr ||
                       !sums_to_zero(graph, node.operands[0])) {
                     return std::nullopt;
                   }
                   return g.fill(node.type, 0);
                 });
}

}  // namespace

Pass cancel_bias_before_normalization() {
  return {"cancel-bias-before-normalization",
          "after differentiation, which makes the sums; before the optimizer reads them", cancel};
}

}  // namespace cosmic::compile
