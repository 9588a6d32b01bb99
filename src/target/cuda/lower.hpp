// From a step of a plan to the work that a device does for it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compile/step.hpp"
#include "core/support.hpp"
#include "graph/graph.hpp"
#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {

/// Where values are on the device.
class Addresses {
 public:
  Addresses(const graph::Graph& graph, std::vector<std::byte*> addresses)
      : graph_(&graph), addresses_(std::move(addresses)) {}

  const graph::Graph& graph() const { return *graph_; }
  template <class Element = float>
  Element* at(graph::ValueId value) const {
    return reinterpret_cast<Element*>(addresses_.at(value.index()));
  }

 private:
  const graph::Graph* graph_;  // outlives this
  std::vector<std::byte*> addresses_;
};

/// Can this node be computed in this form? Every op can; formats and layouts are what is missing.
Support supports_node(const graph::Graph& graph, graph::ValueId node);

/// What the kernel of a node is called where people read it.
std::string kernel_name(const graph::Node& node);

/// The work for a value, in order. Sums use `scratch` in between; work of other values may use the
/// same afterwards.
std::vector<Work> lower(const Addresses& addresses, graph::ValueId value, std::byte* scratch);

/// What lower() needs at `scratch`.
std::int64_t scratch_bytes(const std::vector<Work>& works);

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
