#include "train/rank_comparison.hpp"

#include <gtest/gtest.h>

namespace cosmic::train {
namespace {

using report::profile::RankProfile;
using report::profile::RankTimes;
using Stretch = RankComparison::Stretch;

TEST(RankComparison, puts_what_even_the_slowest_waits_down_to_the_exchange) {
  RankComparison comparison;
  comparison.add(5,
                 std::vector<Stretch>{{.seconds = 3, .waiting = 0}, {.seconds = 3, .waiting = 1}});
  comparison.add(6, std::vector<Stretch>{{.seconds = 10, .waiting = 4, .data = 1, .writing = 0.5},
                                         {.seconds = 10, .waiting = 1, .data = 2}});
  const RankProfile profile = comparison.profile();
  EXPECT_EQ(profile.updates, 1);
  const RankTimes& first = profile.ranks.at(0);
  EXPECT_DOUBLE_EQ(first.starting, 3);
  EXPECT_DOUBLE_EQ(first.exchange, 1);
  EXPECT_DOUBLE_EQ(first.waiting, 3);
  EXPECT_DOUBLE_EQ(first.data, 1);
  EXPECT_DOUBLE_EQ(first.writing, 0.5);
  EXPECT_DOUBLE_EQ(first.computing, 4.5);
  EXPECT_DOUBLE_EQ(first.all(), 13);
  const RankTimes& second = profile.ranks.at(1);
  EXPECT_DOUBLE_EQ(second.starting, 2);
  EXPECT_DOUBLE_EQ(second.exchange, 1);
  EXPECT_DOUBLE_EQ(second.waiting, 1);  // of the start
  EXPECT_DOUBLE_EQ(second.all(), 13);
  EXPECT_EQ(profile.slowest(), 1U);
}

TEST(RankComparison, keeps_the_updates_with_the_largest_spread_and_the_latest) {
  RankComparison comparison;
  comparison.add(0, std::vector<Stretch>(3));
  constexpr std::int64_t kUpdates = 5000;
  for (std::int64_t step = 0; step < kUpdates; ++step) {
    const double late = step % 1000 == 7 ? 1.0 + static_cast<double>(step) : 0;
    comparison.add(step + 1,
                   std::vector<Stretch>{
                       {.seconds = 2}, {.seconds = 2 + late}, {.seconds = 3, .waiting = 1.5}});
  }
  comparison.add(kUpdates, std::vector<Stretch>(3, {.seconds = 100}));  // no update, but an end
  const RankProfile profile = comparison.profile();
  EXPECT_EQ(profile.updates, kUpdates);
  ASSERT_EQ(profile.widest.size(), RankComparison::kWidest);
  EXPECT_EQ(profile.widest.front().step, 4007);
  EXPECT_EQ(profile.widest.front().slowest_rank, 1);
  EXPECT_DOUBLE_EQ(profile.widest.front().slowest, 4010);
  EXPECT_DOUBLE_EQ(profile.widest.front().median, 2);
  EXPECT_DOUBLE_EQ(profile.widest.front().fastest, 1.5);
  EXPECT_EQ(profile.widest[4].step, 7);
  ASSERT_EQ(profile.latest.size(), RankComparison::kKept);
  EXPECT_EQ(profile.latest.back().step, kUpdates - 1);
}

TEST(RankClock, cuts_what_was_counted_into_stretches) {
  RankClock clock;
  clock.next(2, {.waiting = 1, .data = 0.5, .writing = 0.25});
  const Stretch stretch = clock.next(5, {.waiting = 2, .data = 1, .writing = 0.5});
  EXPECT_DOUBLE_EQ(stretch.seconds, 3);
  EXPECT_DOUBLE_EQ(stretch.waiting, 1);
  EXPECT_DOUBLE_EQ(stretch.data, 0.5);
  EXPECT_DOUBLE_EQ(stretch.writing, 0.25);
  EXPECT_DOUBLE_EQ(stretch.working(), 2);
  EXPECT_DOUBLE_EQ(stretch.computing(), 1.25);
}

}  // namespace
}  // namespace cosmic::train
