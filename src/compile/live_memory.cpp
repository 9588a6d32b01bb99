#include "compile/live_memory.hpp"

#include <algorithm>

#include "compile/inside.hpp"

namespace cosmic::compile {

LiveMemory live_memory(const Plan& plan) {
  const std::size_t nodes = plan.graph.size();
  LiveMemory memory;
  memory.bytes.resize(nodes);
  const auto inside = values_inside(plan);  // which take no bytes of their own
  for (std::size_t value = 0; value < plan.placements.size(); ++value) {
    const std::optional<Placement>& placement = plan.placements[value];
    if (!placement || inside[value]) {
      continue;
    }
    // What is handed back lives beyond the last node.
    const std::size_t last = std::min(placement->last + 1, nodes);
    for (std::size_t node = placement->first; node < last; ++node) {
      memory.bytes[node] += placement->bytes;
    }
  }
  const auto peak = std::max_element(memory.bytes.begin(), memory.bytes.end());
  memory.peak_node = static_cast<std::size_t>(peak - memory.bytes.begin());
  for (std::size_t value = 0; value < plan.placements.size(); ++value) {
    const std::optional<Placement>& placement = plan.placements[value];
    if (placement && !inside[value] && placement->first <= memory.peak_node &&
        memory.peak_node <= placement->last) {
      memory.at_peak.emplace_back(value);
    }
  }
  std::stable_sort(memory.at_peak.begin(), memory.at_peak.end(),
                   [&](graph::ValueId a, graph::ValueId b) {
                     return plan.placements[a.index()]->bytes > plan.placements[b.index()]->bytes;
                   });
  return memory;
}

}  // namespace cosmic::compile
