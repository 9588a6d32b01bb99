#include "target/cuda/program_memory.hpp"

#include <algorithm>

#include "target/cuda/lower.hpp"

namespace cosmic::target::cuda {
namespace {

/// How much room works need depends on shapes, not on where values are, so nothing has to have a
/// place yet.
Rooms rooms_of(const compile::Plan& plan) {
  const Addresses nowhere(plan.graph, std::vector<std::byte*>(plan.graph.size(), nullptr));
  Rooms rooms;
  std::vector<Work> before;
  for (const compile::Step& step : plan.steps.steps) {
    lower(nowhere, step, rooms, before);
  }
  return rooms;
}

}  // namespace

ProgramMemory program_memory(const compile::Plan& plan) {
  ProgramMemory memory;
  memory.values = plan.arena_bytes;
  for (const graph::NamedValue& input : plan.graph.inputs) {
    memory.inputs += round_up(plan.graph.type(input.value).bytes());
    // Of this run and of the next.
    memory.staging += 2 * staging_bytes(plan.graph.type(input.value));
  }
  const Rooms rooms = rooms_of(plan);
  memory.scratch = rooms.scratch.most();
  memory.prepared = rooms.prepared.most() + rooms.counters.most();
  return memory;
}

}  // namespace cosmic::target::cuda
