#include "session/device_memory.hpp"

#include <set>
#include <utility>
#include <vector>

namespace cosmic::session {
namespace {

using StateTypes = std::vector<std::pair<std::string, graph::TensorType>>;

/// Of the states that are still to be made, each once.
StateTypes types_of(std::span<const compile::Plan* const> plans, States states) {
  StateTypes types;
  std::set<std::string> known;
  for (const compile::Plan* const plan : plans) {
    for (const graph::StateVariable& state : plan->graph.states) {
      if (states == States::to_be_made && known.insert(state.name).second) {
        types.emplace_back(state.name, plan->graph.type(state.value));
      }
    }
  }
  return types;
}

std::string problem_of(const DeviceMemoryPlan& plan, const graph::TensorType& image) {
  return "a batch of " + std::to_string(image.dim(0)) + " events needs " +
         target::memory_text(plan.need.bytes()) + " of device memory (" +
         target::to_string(plan.need) + "), and " + target::to_string(plan.room.device) + " has " +
         target::memory_text(plan.room.free) + " free of " + target::memory_text(plan.room.total) +
         " (nothing was allocated)";
}

}  // namespace

std::optional<DeviceMemoryPlan> plan_device_memory(const target::Target& target,
                                                   std::span<const compile::Plan* const> plans,
                                                   States states) {
  const std::optional<target::DeviceRoom> room = target.device_room();
  if (!room) {
    return std::nullopt;
  }
  const StateTypes types = types_of(plans, states);
  std::optional<target::MemoryNeed> need = target.memory_need(plans, types);
  COSMIC_ASSERT(need.has_value());  // a target with a device knows both
  return DeviceMemoryPlan{std::move(*need), *room};
}

std::int64_t host_memory(std::span<const compile::Plan* const> plans, States states) {
  std::int64_t bytes = 0;
  for (const compile::Plan* const plan : plans) {
    bytes += plan->arena_bytes;
    for (const graph::NamedValue& output : plan->graph.outputs) {
      bytes += plan->graph.type(output.value).bytes();
    }
  }
  for (const auto& [name, type] : types_of(plans, states)) {
    bytes += type.bytes();
  }
  return bytes;
}

std::string to_string(const DeviceMemoryPlan& plan) {
  return target::memory_text(plan.need.bytes()) + " planned of " +
         target::memory_text(plan.room.free) + " free on " + target::to_string(plan.room.device) +
         ": " + target::to_string(plan.need);
}

DeviceMemoryError::DeviceMemoryError(DeviceMemoryPlan plan, graph::TensorType image)
    : TargetError(problem_of(plan, image) +
                  "; use a smaller batch (run.minibatch_size), choose another device (run.device), "
                  "or wait until others have given memory back"),
      problem_(problem_of(plan, image)),
      plan_(std::move(plan)),
      image_(std::move(image)) {}

}  // namespace cosmic::session
