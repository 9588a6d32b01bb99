// The share of one process in a batch, where several train together: rank r of `ranks` takes the
// r-th contiguous part, and all parts together are the batch that one process alone would have.
#pragma once

#include <cstdint>

#include "core/threads.hpp"

namespace cosmic::data {

struct Partition {
  int rank = 0;
  int ranks = 1;
};

/// Positions in a batch of `global_batch` events. Throws UserError when ranks cannot have equal
/// parts, or when there is no such rank.
Range local_part(std::int64_t global_batch, const Partition& partition);

}  // namespace cosmic::data
