// What a plan keeps in its arena while each node runs, and what it keeps when that is most: the
// tensors to look at when a program needs too much memory.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/plan.hpp"

namespace cosmic::compile {

struct LiveMemory {
  std::vector<std::int64_t> bytes;      ///< one per node: of the values alive while it runs
  std::size_t peak_node = 0;            ///< the first of those with the most
  std::vector<graph::ValueId> at_peak;  ///< the largest first
};

LiveMemory live_memory(const Plan& plan);

}  // namespace cosmic::compile
