// Reverse-mode differentiation: walk the program backwards, ask each op for the gradients of its
// operands, add up where a value was read more than once. Only values that depend on a parameter
// are followed, so the gradient of the input image, a full-size convolution nobody reads, is never
// built.
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

std::vector<bool> depends_on_parameters(const Graph& graph) {
  std::vector<bool> depends(graph.size(), false);
  for (const graph::StateVariable& state : graph.states) {
    depends[state.value.index()] = state.kind == graph::StateKind::parameter;
  }
  for_each_node(graph, [&](ValueId id, const Node& node) {
    for (const ValueId operand : node.operands) {
      depends[id.index()] = depends[id.index()] || depends[operand.index()];
    }
  });
  return depends;
}

/// The gradient of the loss with respect to itself, or as much as if it were scaled.
ValueId gradient_of_loss(Builder& g, const LossScaling& scaling) {
  if (!scaling.is_on()) {
    return g.fill({graph::DType::f32, {}}, 1);
  }
  return g.state(kLossScaleState, {graph::DType::f32, {}}, graph::StateKind::optimizer,
                 graph::Initializer::constant(static_cast<double>(scaling.initial)));
}

Graph add_gradients(Graph graph, const LossScaling& scaling) {
  const ValueId loss = graph.output(kLossOutput).value;
  COSMIC_REQUIRE(ShapeError, graph.type(loss).shape.empty(),
                 "the loss is " << graph.type(loss)
                                << " (only a scalar can be differentiated); reduce it first");
  const std::vector<bool> depends = depends_on_parameters(graph);
  const std::vector<graph::StateVariable> states = graph.states;
  const std::size_t forward_size = graph.size();
  Builder g(std::move(graph));
  std::vector<std::optional<ValueId>> adjoint(forward_size);
  g.set_stage(g.graph().node(loss).stage);
  adjoint[loss.index()] = gradient_of_loss(g, scaling);
  for (std::size_t i = forward_size; i-- > 0;) {
    if (!adjoint[i] || !depends[i]) {
      continue;
    }
    const Node node = g.graph().node(ValueId(i));
    g.set_scope(node.name);
    g.set_stage(node.stage);
    const graph::Adjoints adjoints = std::visit(
        [&](const auto& op) {
          return std::decay_t<decltype(op)>::gradient(op, g,
                                                      {node.operands, ValueId(i), *adjoint[i]});
        },
        node.op);
    COSMIC_REQUIRE(ShapeError, adjoints.refusal.empty(),
                   "the loss depends on a parameter through "
                       << name_of(node.op) << " at '" << node.name << "', which has no "
                       << "gradient (" << adjoints.refusal << ")");
    for (std::size_t k = 0; k < adjoints.of.size(); ++k) {
      const std::size_t operand = node.operands[k].index();
      if (!adjoints.of[k] || !depends[operand]) {
        continue;
      }
      adjoint[operand] = adjoint[operand]
                             ? g.add(graph::Add{}, {*adjoint[operand], *adjoints.of[k]})
                             : *adjoints.of[k];
    }
  }
  for (const graph::StateVariable& state : states) {
    if (state.kind != graph::StateKind::parameter) {
      continue;
    }
    // A parameter the loss does not depend on (a layer that is switched off) has a zero gradient.
    const std::optional<ValueId> gradient = adjoint[state.value.index()];
    g.output(gradient_name(state.name), gradient ? *gradient : g.fill(g.type(state.value), 0));
  }
  return g.take();
}

}  // namespace

std::string gradient_name(const std::string& parameter) {
  return "gradient/" + parameter;
}

Pass differentiate(const LossScaling& scaling) {
  return {"differentiate",
          "after the rewrites of the network, so that gradients are those of the cheaper form; "
          "before everything that looks at the whole step",
          [scaling](Graph graph) { return add_gradients(std::move(graph), scaling); },
          Required::yes, text_of(scaling)};
}

}  // namespace cosmic::compile
