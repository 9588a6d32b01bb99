#include "target/cuda/program_memory.hpp"

#include <algorithm>

#include "target/cuda/join_launches.hpp"
#include "target/cuda/lower.hpp"
#include "target/cuda/touches.hpp"

namespace cosmic::target::cuda {

WorkMemory work_memory(const compile::Plan& plan) {
  const graph::Graph& graph = plan.graph;
  const Addresses nowhere(graph, std::vector<std::byte*>(graph.size(), nullptr));
  WorkMemory needs;
  needs.rooms.gradients = EvaluatedGradients(plan);
  needs.rooms.counters.take<float>(kCarriedNumbers);
  needs.table += kCarriedNumbers * table_bytes(Map<AddBody>{{}, 1, nullptr});
  std::vector<Work> before;
  for (const graph::NamedValue& input : graph.inputs) {
    if (graph.node(input.value).format != NumberFormat::f32) {
      needs.table += table_bytes(round_in_place(nowhere, input.value));
    }
  }
  for (const compile::Step& step : plan.steps.steps) {
    for (const Work& work : lower(nowhere, step, needs.rooms, before)) {
      needs.table += step.fixed ? 0 : table_bytes(work);
    }
  }
  for (const graph::StateUpdate& update : graph.updates) {
    if (!plan.overwrites[update.value.index()]) {
      needs.table += table_bytes(copy(graph.type(update.state), nullptr, nullptr));
    }
  }
  return needs;
}

ProgramMemory program_memory(const compile::Plan& plan) {
  ProgramMemory memory;
  memory.values = plan.arena_bytes + place_small_values(plan).bytes;
  for (const graph::NamedValue& input : plan.graph.inputs) {
    memory.inputs += round_up(plan.graph.type(input.value).bytes());
    // Of this run and of the next.
    memory.staging += 2 * staging_bytes(plan.graph.type(input.value));
  }
  const WorkMemory needs = work_memory(plan);
  memory.scratch =
      scratch_bytes(needs.rooms.scratch.most()) + needs.rooms.gradients.bytes();
  memory.prepared = needs.rooms.prepared.most() + needs.rooms.counters.most() + needs.table;
  return memory;
}

}  // namespace cosmic::target::cuda
