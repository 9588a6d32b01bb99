#include "session/memory_use.hpp"

#include "compile/live_memory.hpp"

namespace cosmic::session {

MemoryUse memory_use(const compile::Plan& plan) {
  compile::LiveMemory live = compile::live_memory(plan);
  MemoryUse use;
  use.arena_bytes = plan.arena_bytes;
  use.peak_live_bytes = plan.peak_live_bytes;
  use.live_bytes = std::move(live.bytes);
  use.peak_node = live.peak_node;
  std::vector<std::size_t> tensor_of(plan.graph.size());
  graph::for_each_node(plan.graph, [&](graph::ValueId id, const graph::Node& node) {
    use.nodes.push_back({std::string(graph::name_of(node.op)), node.name});
    if (const std::optional<compile::Placement>& placement = plan.placements[id.index()]) {
      tensor_of[id.index()] = use.tensors.size();
      use.tensors.push_back({id.index(), node.type, placement->offset, placement->bytes,
                             placement->first, placement->last});
    }
  });
  for (const graph::ValueId value : live.at_peak) {
    use.at_peak.push_back(tensor_of[value.index()]);
  }
  return use;
}

}  // namespace cosmic::session
