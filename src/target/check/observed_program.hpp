// A program with every value that it keeps in memory handed back as well: what a target made of
// each op can then be looked at. The ops, their order, the layouts and the formats are those of the
// program; only the memory is another, because no value may take the place of another one.
#pragma once

#include <optional>
#include <vector>

#include "compile/plan.hpp"
#include "compile/target_info.hpp"

namespace cosmic::target::check {

struct ObservedProgram {
  compile::Plan plan;
  /// One per value of the program as it was: which output of the plan it is. None for values that
  /// are recomputed where they are read, and for states, which are known before a run.
  std::vector<std::optional<std::size_t>> outputs;
};

ObservedProgram observe(const compile::Plan& plan, const compile::TargetInfo& target);

}  // namespace cosmic::target::check
