#include "target/cuda/program_memory.hpp"

#include <algorithm>

#include "target/cuda/lower.hpp"

namespace cosmic::target::cuda {
namespace {

/// Steps use the same scratch one after the other. How much depends on shapes, not on where values
/// are, so nothing has to have a place yet.
std::int64_t most_scratch(const compile::Plan& plan) {
  const Addresses nowhere(plan.graph, std::vector<std::byte*>(plan.graph.size(), nullptr));
  std::int64_t most = 0;
  for (const compile::Step& step : plan.steps.steps) {
    most = std::max(most, scratch_bytes(lower(nowhere, step.leader.value, nullptr)));
  }
  return most;
}

}  // namespace

ProgramMemory program_memory(const compile::Plan& plan) {
  ProgramMemory memory;
  memory.values = plan.arena_bytes;
  for (const graph::NamedValue& input : plan.graph.inputs) {
    memory.inputs += round_up(plan.graph.type(input.value).bytes());
    memory.staging += staging_bytes(plan.graph.type(input.value));
  }
  memory.scratch = most_scratch(plan);
  return memory;
}

}  // namespace cosmic::target::cuda
