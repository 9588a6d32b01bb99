#include "data/loader/partition.hpp"

#include "core/error.hpp"

namespace cosmic::data {

Range local_part(std::int64_t global_batch, const Partition& partition) {
  const auto [rank, ranks] = partition;
  COSMIC_REQUIRE(UserError, ranks > 0 && rank >= 0 && rank < ranks,
                 "rank " << rank << " of " << ranks << " (ranks go from 0 to one less than "
                         << "their number); check how the processes were started");
  COSMIC_REQUIRE(UserError, global_batch % ranks == 0,
                 "a batch of " << global_batch << " events for " << ranks
                               << " ranks (each takes an equal part); choose a multiple of "
                               << ranks);
  const std::int64_t part = global_batch / ranks;
  return {part * rank, part * (rank + 1)};
}

}  // namespace cosmic::data
