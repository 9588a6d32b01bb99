// From a step of a plan to the work that a device does for it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compile/step.hpp"
#include "core/support.hpp"
#include "graph/graph.hpp"
#include "target/cuda/addresses.hpp"
#include "target/cuda/rooms.hpp"
#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {

/// Can this node be computed in this form? Every op can; some ways to round and to add up are
/// missing.
Support supports_node(const graph::Graph& graph, graph::ValueId node);

/// What the kernel of a step is called where people read it.
std::string kernel_name(const graph::Graph& graph, const compile::Step& step);

/// A rounded copy of a state that its readers do without: they round what they read themselves.
bool is_looked_through(const graph::Graph& graph, graph::ValueId value);

/// The work of a step, in order. What has to be done once per change of the state goes to `before`.
std::vector<Work> lower(const Addresses& addresses, const compile::Step& step, Rooms& rooms,
                        std::vector<Work>& before);

/// Rounds the floats of a plain value to its format.
Work round_in_place(const Addresses& addresses, graph::ValueId value);

/// Makes work of single elements depend on a number that must be finite. Other kinds never write
/// states.
void guard(std::vector<Work>& works, const float* number);

/// Writes a whole value of this type.
Work fill(const graph::TensorType& type, std::byte* to, double value);
Work copy(const graph::TensorType& type, const std::byte* from, std::byte* to);
/// Pixels that were uploaded, over what is there.
struct UploadedPixels {
  const std::int64_t* begins = nullptr;
  const std::int32_t* indices = nullptr;
  const std::byte* values = nullptr;
  std::int64_t count = 0;
};
Work scatter_pixels(const graph::TensorType& type, const UploadedPixels& pixels, std::byte* to);

}  // namespace cosmic::target::cuda
