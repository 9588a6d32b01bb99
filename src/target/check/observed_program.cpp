#include "target/check/observed_program.hpp"

#include "compile/pipeline.hpp"

namespace cosmic::target::check {

ObservedProgram observe(const compile::Plan& plan, const compile::TargetInfo& target) {
  graph::Graph graph = plan.graph;
  std::vector<std::optional<std::size_t>> outputs(graph.size());
  const std::size_t values = graph.size();
  for (std::size_t i = 0; i < values; ++i) {
    const graph::Node node = graph.nodes()[i];
    if (!node.stored || graph::op_if<graph::State>(node) != nullptr) {
      continue;
    }
    graph::ValueId plain(i);
    if (node.layout != graph::Layout::plain) {
      // At the end of the program, so that what happens before stays as it was.
      graph::Node reorder{graph::Reorder{graph::Layout::plain}, {plain}, node.type, node.name};
      reorder.stage = node.stage;
      plain = graph.append(std::move(reorder));
    }
    outputs[i] = graph.outputs.size();
    graph.outputs.push_back({"observed/" + std::to_string(i), plain});
  }
  // No passes: they have run, and would decide anew.
  return {compile::make_plan(std::move(graph), {}, target, {}), std::move(outputs)};
}

}  // namespace cosmic::target::check
