#include "machine/machine_formats.hpp"

#include <vector>

namespace cosmic::machine {
namespace {

using graph::Exact;
using graph::Graph;
using graph::Node;
using graph::Role;
using graph::ValueId;

std::vector<Role> roles_in(const Graph& graph) {
  std::vector<Role> roles(graph.size());
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    std::vector<Role> operands;
    for (const ValueId operand : node.operands) {
      operands.push_back(roles[operand.index()]);
    }
    roles[id.index()] = graph::role_of(node.op, operands);
  });
  return roles;
}

/// Of images, if they are narrow; float32 otherwise.
NumberFormat format_of_images(const Graph& graph, const std::vector<Role>& roles) {
  NumberFormat format = NumberFormat::f32;
  graph::for_each_node(graph, [&](ValueId id, const Node& node) {
    if (roles[id.index()] == Role::image && node.format != NumberFormat::f32) {
      format = node.format;
    }
  });
  return format;
}

Graph with_narrow_scores(Graph graph) {
  const std::vector<Role> roles = roles_in(graph);
  const NumberFormat format = format_of_images(graph, roles);
  if (format == NumberFormat::f32) {
    return graph;  // what the compiler made narrow stays so
  }
  std::vector<ValueId> scores;
  graph::for_each_node(graph, [&](ValueId, const Node& node) {
    const bool reads_scores = graph::exact_of(node.op) != Exact::no && !node.operands.empty();
    if (reads_scores && roles[node.operands[0].index()] == Role::image &&
        graph::exact_of(graph.node(node.operands[0]).op) == Exact::no) {
      scores.push_back(node.operands[0]);
    }
  });
  // Without a loss they leave the program as they are written.
  for (const graph::NamedValue& output : graph.outputs) {
    if (roles[output.value.index()] == Role::image &&
        graph::exact_of(graph.node(output.value).op) == Exact::no) {
      scores.push_back(output.value);
    }
  }
  for (const ValueId id : scores) {
    graph.node(id).format = format;
  }
  return graph;
}

Graph with_narrow_gradients(Graph graph) {
  const std::vector<Role> roles = roles_in(graph);
  const NumberFormat format = format_of_images(graph, roles);
  if (format == NumberFormat::f32) {
    return graph;  // what the compiler made narrow stays so
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    Node& node = graph.node(ValueId(i));
    if (roles[i] == Role::gradient && node.type.dtype == graph::DType::f32 &&
        graph::exact_of(node.op) == Exact::no) {
      node.format = format;
    }
  }
  return graph;
}

}  // namespace

compile::Pass narrow_scores() {
  return {"narrow-scores",
          "after formats were assigned, and before layouts, which depend on them: the machine's "
          "list of operations has convolutions write 16 bits, the last one too",
          with_narrow_scores, compile::Required::yes};
}

compile::Pass narrow_gradients() {
  return {"narrow-gradients",
          "after formats were assigned, and before layouts, which depend on them: the machine "
          "keeps gradients in the type of what they are gradients of",
          with_narrow_gradients, compile::Required::yes};
}

}  // namespace cosmic::machine
