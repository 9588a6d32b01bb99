// Which values are kept in a narrow format:
//
//   yes   images between layers and their gradients, and the image itself
//   yes   weights as layers read them: rounded copies of the float32 weights that are updated
//   no    what the loss reads and computes, sums over images, numbers per channel
//   pure  weights, running statistics, optimizer state, gradients of weights, and the logits too
//
// A format is a property of a stored value. What is recomputed where it is read is never written,
// hence never rounded.
#include <algorithm>

#include "compile/passes/passes.hpp"
#include "compile/rewrite.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::Node;
using graph::op_if;
using graph::Role;
using graph::ValueId;

std::vector<Role> roles_of(const Graph& graph) {
  std::vector<Role> roles(graph.size());
  for_each_node(graph, [&](ValueId id, const Node& node) {
    std::vector<Role> operands;
    for (const ValueId operand : node.operands) {
      operands.push_back(roles[operand.index()]);
    }
    roles[id.index()] = role_of(node.op, operands);
  });
  return roles;
}

class FormatAssigner {
 public:
  FormatAssigner(const Graph& from, const Precision& precision)
      : from_(from), precision_(precision), roles_(roles_of(from)), map_(from.size()) {}

  Graph run() {
    for_each_node(from_, [&](ValueId id, const Node& node) { place(id, node); });
    copy_boundary(from_, map_, to_);
    to_.numerics.partials = precision_.partials;
    to_.numerics.tf32 = precision_.tf32;
    keep_what_leaves();
    if (pure()) {
      assign_to_states();
    }
    return std::move(to_);
  }

 private:
  bool pure() const { return precision_.weights == Precision::Weights::pure; }

  void place(ValueId id, const Node& node) {
    Node copy = node;
    copy.format = format_of(roles_[id.index()]);
    for (std::size_t i = 0; i < copy.operands.size(); ++i) {
      copy.operands[i] = map_[copy.operands[i].index()];
      if (is_weight_operand(node.op, i, roles_[node.operands[i].index()])) {
        copy.operands[i] = rounded_weight(copy.operands[i]);
      }
    }
    map_[id.index()] = to_.append(std::move(copy));
  }

  NumberFormat format_of(Role role) const {
    switch (role) {
      case Role::number:
        break;
      case Role::image:
        return precision_.format;
      case Role::gradient:
        return precision_.gradients();
      case Role::weight_gradient:
        return pure() ? precision_.format : NumberFormat::f32;
    }
    return NumberFormat::f32;
  }

  /// A copy for each reader, right before it: it then lives no longer than the step that reads it.
  /// What is computed from weights is rounded where it is written.
  ValueId rounded_weight(ValueId weight) {
    Node& node = to_.node(weight);
    // A constant here is a zero that stands for no bias; in a pure program states are rounded.
    const bool is_state = op_if<graph::State>(node) != nullptr;
    if (op_if<graph::Fill>(node) != nullptr || (is_state && pure())) {
      return weight;
    }
    if (!is_state || precision_.format == NumberFormat::f32) {
      node.format = precision_.format;
      return weight;
    }
    Node copy{graph::Copy{}, {weight}, node.type, node.name};
    copy.format = precision_.format;
    return to_.append(std::move(copy));
  }

  /// The loss is computed in float32 from float32 logits, and so is what the caller sees.
  void keep_what_leaves() {
    for_each_node(to_, [&](ValueId id, const Node& node) {
      const graph::Exact exact = exact_of(node.op);
      if (exact == graph::Exact::operand_and_result) {
        to_.node(id).format = NumberFormat::f32;
      }
      if (!pure() && exact != graph::Exact::no) {
        to_.node(node.operands[0]).format = NumberFormat::f32;
      }
    });
    for (const graph::NamedValue& output : to_.outputs) {
      if (!pure()) {
        to_.node(output.value).format = NumberFormat::f32;
      }
    }
  }

  void assign_to_states() {
    const auto assign = [&](ValueId id) {
      if (to_.type(id).dtype == graph::DType::f32) {
        to_.node(id).format = precision_.format;
      }
    };
    for (const graph::StateVariable& state : to_.states) {
      assign(state.value);
    }
    for (const graph::StateUpdate& update : to_.updates) {
      assign(update.value);
    }
  }

  const Graph& from_;
  const Precision& precision_;
  std::vector<Role> roles_;
  Graph to_;
  std::vector<ValueId> map_;
};

/// A program that updates state is a training step; it counts its runs.
Graph round_stochastically(Graph graph, const Precision& precision) {
  const bool rounds = std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return node.format != NumberFormat::f32;
  });
  if (!rounds || graph.updates.empty()) {
    return graph;
  }
  graph::Builder g(std::move(graph));
  g.set_scope(kRunsState);
  const ValueId runs = g.state(kRunsState, {graph::DType::i64, {}}, graph::StateKind::optimizer,
                               graph::Initializer::constant(0));
  g.update(runs, g.add(graph::Increment{1}, {runs}));
  graph = g.take();
  graph.numerics.rounding = Rounding::stochastic;
  graph.numerics.seed = precision.seed;
  graph.numerics.runs = runs;
  return graph;
}

}  // namespace

Pass assign_formats(const Precision& precision) {
  return {"assign-formats",
          "after all rewrites of ops, so that every value is the one that gets written; before the "
          "target looks, since layouts and storage depend on how much room a value takes",
          [precision](Graph graph) {
            graph = FormatAssigner(graph, precision).run();
            return precision.rounding == Rounding::stochastic
                       ? round_stochastically(std::move(graph), precision)
                       : graph;
          },
          Required::yes};
}

}  // namespace cosmic::compile
