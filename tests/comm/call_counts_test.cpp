#include "comm/call_counts.hpp"

#include <gmock/gmock.h>

namespace cosmic::comm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CallCounts, say_who_has_not_made_a_call_that_others_wait_for) {
  CallCounts counts(1, 3);
  counts.set_own(5);
  counts.merge(std::vector<std::uint64_t>{5, 0, 4});
  EXPECT_THAT(counts.short_of(4), IsEmpty());
  EXPECT_THAT(counts.short_of(5), ElementsAre(2));
  EXPECT_THAT(counts.short_of(6), ElementsAre(0, 1, 2));
}

TEST(CallCounts, of_a_process_are_never_taken_back_by_what_somebody_heard_earlier) {
  CallCounts counts(0, 3);
  counts.merge(std::vector<std::uint64_t>{0, 7, 2});
  counts.merge(std::vector<std::uint64_t>{0, 3, 9});
  EXPECT_THAT(counts.of_all(), ElementsAre(0, 7, 9));
}

TEST(CallCounts, reach_everybody_in_a_ring_by_way_of_neighbours) {
  std::vector<CallCounts> ring;
  for (int rank = 0; rank < 4; ++rank) {
    ring.emplace_back(rank, 4);
    ring.back().set_own(static_cast<std::uint64_t>(10 + rank));
  }
  for (int beat = 0; beat < 3; ++beat) {
    for (std::size_t rank = 0; rank < ring.size(); ++rank) {
      const std::vector<std::uint64_t> heard(ring[rank].of_all().begin(),
                                             ring[rank].of_all().end());
      ring[(rank + 1) % ring.size()].merge(heard);
    }
  }
  for (const CallCounts& counts : ring) {
    EXPECT_THAT(counts.of_all(), ElementsAre(10, 11, 12, 13));
  }
}

}  // namespace
}  // namespace cosmic::comm
