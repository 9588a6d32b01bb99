// The memory of a device that programs need, set against what is free there, before anything is
// allocated: a run either fits or is refused while nothing has been done yet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compile/plan.hpp"
#include "core/error.hpp"
#include "graph/tensor_type.hpp"
#include "target/device.hpp"
#include "target/target.hpp"

namespace cosmic::session {

struct DeviceMemoryPlan {
  target::MemoryNeed need;
  target::DeviceRoom room;

  bool fits() const { return need.bytes() <= room.free; }
};

/// Are the states of the programs still to be made, or does another model have them already?
enum class States { to_be_made, there };

/// Nothing for a target that computes in the host's own memory.
std::optional<DeviceMemoryPlan> plan_device_memory(const target::Target& target,
                                                   std::span<const compile::Plan* const> plans,
                                                   States states);

/// What they take of the host's memory where the target has none of its own: values,
/// results and states. Programs need some scratch memory besides.
std::int64_t host_memory(std::span<const compile::Plan* const> plans, States states);

/// "5.90 GB planned of 141.10 GB free on device 0 (NVIDIA H200): values 5.20 GB, ...".
std::string to_string(const DeviceMemoryPlan& plan);

/// Programs that do not fit the device. A separate type, because a caller that knows the run's
/// settings can say which batch would.
class DeviceMemoryError : public TargetError {
 public:
  /// `image` is what one run of the program takes.
  DeviceMemoryError(DeviceMemoryPlan plan, graph::TensorType image);

  /// What is too large, without what to do.
  const std::string& problem() const { return problem_; }
  const DeviceMemoryPlan& plan() const { return plan_; }
  const graph::TensorType& image() const { return image_; }

 private:
  std::string problem_;
  DeviceMemoryPlan plan_;
  graph::TensorType image_;
};

}  // namespace cosmic::session
