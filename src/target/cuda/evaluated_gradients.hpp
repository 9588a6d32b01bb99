// Gradients that are evaluated once. A gradient that is not stored would be evaluated by every
// kernel that reads it: the gradient of a convolution's kernel, then that of its image, several of
// both where the convolution was split. The first of them, a kernel gradient, reads each pixel just
// once, so it leaves what it has evaluated in memory, and those that follow copy it to the chip as
// it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "compile/plan.hpp"
#include "target/cuda/kernels/image.hpp"

namespace cosmic::target::cuda {

class EvaluatedGradients {
 public:
  EvaluatedGradients() = default;
  explicit EvaluatedGradients(const compile::Plan& plan);

  /// Of the largest: one is in memory at a time.
  std::int64_t bytes() const { return bytes_; }
  void put_at(std::byte* memory) { memory_ = memory; }

  /// Where a step, by its leader, leaves the gradient that it reads.
  std::optional<Image> left_by(const graph::Graph& graph, graph::ValueId leader) const;
  /// Where a step finds the gradient that one before it has left.
  std::optional<Image> found_by(const graph::Graph& graph, graph::ValueId leader) const;

 private:
  std::set<graph::ValueId> writers_;
  std::set<graph::ValueId> readers_;
  std::int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace cosmic::target::cuda
