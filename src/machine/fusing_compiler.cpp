#include "machine/fusing_compiler.hpp"

#include "compile/passes/passes.hpp"

namespace cosmic::machine {
namespace {

constexpr std::string_view kOpByOp = "modelled, op by op";  // the compiler that folds nothing

/// Steps of the backward pass of a normalization, which every library does in one kernel.
bool inside_library_kernel(const graph::Node& node) {
  return std::holds_alternative<graph::ChannelScale>(node.op) ||
         std::holds_alternative<graph::StatisticsGradient>(node.op);
}

}  // namespace

compile::TargetInfo fusing_compiler(Stored stored) {
  compile::TargetInfo info;
  info.name = stored != Stored::fused ? kOpByOp : "modelled";
  info.can_recompute = [stored](const graph::Graph& graph, graph::ValueId id) {
    const graph::Node& node = graph.node(id);
    switch (stored) {
      case Stored::every_op:
        return inside_library_kernel(node);
      case Stored::in_place:
        return inside_library_kernel(node) || std::holds_alternative<graph::LeakyRelu>(node.op);
      case Stored::fused:
        break;
    }
    return graph::locality_of(node.op) == graph::Locality::pixel;
  };
  return info;
}

std::vector<std::string> passes_left_out(const compile::TargetInfo& compiler,
                                         const std::vector<compile::Pass>& passes) {
  std::vector<std::string> names;
  for (const compile::Pass& pass : passes) {
    if (compiler.name == kOpByOp && pass.name == compile::fold_normalization().name) {
      names.emplace_back(pass.name);
    }
  }
  return names;
}

}  // namespace cosmic::machine
