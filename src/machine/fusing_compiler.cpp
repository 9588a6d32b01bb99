#include "machine/fusing_compiler.hpp"

namespace cosmic::machine {

compile::TargetInfo fusing_compiler() {
  compile::TargetInfo info;
  info.name = "modelled";
  info.can_recompute = [](const graph::Graph& graph, graph::ValueId id) {
    return graph::locality_of(graph.node(id).op) == graph::Locality::pixel;
  };
  return info;
}

}  // namespace cosmic::machine
