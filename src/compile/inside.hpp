// Values that have no bytes of their own, because they lie in the result of an all_reduce: operands
// that nobody reads afterwards are computed where their sum will be, and what is taken from the sum
// stays there, so that nothing has to be moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compile/plan.hpp"
#include "compile/target_info.hpp"
#include "graph/graph.hpp"

namespace cosmic::compile {

struct Inside {
  graph::ValueId whole;
  std::int64_t offset = 0;  ///< in bytes, from where the whole begins
};

/// One per value: where this target lets it lie, in memory as aligned as it wants it.
std::vector<std::optional<Inside>> choose_inside(const graph::Graph& graph,
                                                 const TargetInfo& target);

/// One per value: where it lies in a plan that is made.
std::vector<std::optional<Inside>> values_inside(const Plan& plan);

}  // namespace cosmic::compile
