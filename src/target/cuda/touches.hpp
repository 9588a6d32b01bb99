// The memory that the works of a program touch, as its plan says.
#pragma once

#include <span>
#include <vector>

#include "compile/plan.hpp"
#include "target/cuda/addresses.hpp"
#include "target/cuda/join_launches.hpp"

namespace cosmic::target::cuda {

/// Small values live apart from the arena, each in bytes of its own: who writes one need not wait
/// for the readers of another that was there before, so works on them can share a launch.
struct SmallValues {
  /// One per value, -1 for those that live elsewhere.
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;
};

SmallValues place_small_values(const compile::Plan& plan);

class Touches {
 public:
  Touches(const compile::Plan& plan, const Addresses& addresses)
      : plan_(&plan), addresses_(&addresses) {}

  /// Works of a step, with the memory beside values that the step was given.
  std::vector<TouchingWork> of_step(const compile::Step& step, std::span<const Work> works,
                                    std::span<const std::byte> scratch,
                                    std::span<const std::byte> prepared) const;
  /// A work that reads one value, or none, and writes one.
  TouchingWork of_work(const Work& work, std::span<const graph::ValueId> reads,
                       graph::ValueId writes) const;

 private:
  Touch touch(graph::ValueId value, bool writes) const;

  const compile::Plan* plan_;   // outlives this
  const Addresses* addresses_;  // likewise
};

}  // namespace cosmic::target::cuda
