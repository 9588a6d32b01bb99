// The team of threads, and the promise that everything else relies on: what a part writes is seen
// by whoever comes after the region, without locks of its own.
#include "core/threads.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "sanitizer.hpp"

namespace cosmic {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Team, runs_every_part_once) {
  for (int threads = 1; threads <= 5; ++threads) {
    std::vector<int> calls(static_cast<std::size_t>(threads));
    Team(threads).run([&](int index) { ++calls[static_cast<std::size_t>(index)]; });
    EXPECT_THAT(calls, Each(1)) << threads << " threads";
  }
}

TEST(Team, sees_what_was_written_before_and_shows_what_it_wrote) {
  constexpr int kThreads = 3;
  constexpr int kRegions = 200;
  const Team team(kThreads);
  std::vector<std::int64_t> values(600);
  std::iota(values.begin(), values.end(), 0);
  for (int region = 0; region < kRegions; ++region) {
    values.front() = region;  // by the caller alone, between regions
    team.run([&](int index) {
      const Range mine = slice_of(static_cast<std::int64_t>(values.size()), index, kThreads);
      for (std::int64_t i = mine.begin; i < mine.end; ++i) {
        values[static_cast<std::size_t>(i)] += 1;
      }
    });
  }
  EXPECT_EQ(values.front(), kRegions);
  EXPECT_EQ(values.back(), 599 + kRegions);
}

TEST(Team, hands_a_part_to_another_thread_in_the_next_region) {
  constexpr int kThreads = 4;
  const Team team(kThreads);
  std::vector<int> ring(kThreads);
  for (int region = 0; region < 100; ++region) {
    team.run([&](int index) { ++ring[static_cast<std::size_t>((index + region) % kThreads)]; });
  }
  EXPECT_THAT(ring, Each(100));
}

TEST(Team, is_one_thread_for_work_that_is_not_worth_waking_others) {
  const Team team(3, 1000);
  EXPECT_EQ(team.for_work(999).size(), 1);
  EXPECT_EQ(team.for_work(1000).size(), 3);
}

TEST(Team, of_no_threads_is_refused) {
  EXPECT_THAT([] { Team(0); }, ThrowsMessage<UserError>(HasSubstr("threads is 0")));
}

TEST(Slices, cover_everything_once_and_differ_by_at_most_one) {
  for (const std::int64_t count : {0, 1, 7, 8, 1000}) {
    std::int64_t next = 0;
    for (int part = 0; part < 3; ++part) {
      const Range slice = slice_of(count, part, 3);
      EXPECT_EQ(slice.begin, next);
      EXPECT_GE(slice.size(), count / 3);
      EXPECT_LE(slice.size(), count / 3 + 1);
      next = slice.end;
    }
    EXPECT_EQ(next, count);
  }
}

// Parts of one region have no order: a sanitizer that were told too much would find nothing.
#ifdef __SANITIZE_THREAD__
TEST(TeamDeathTest, two_parts_that_write_the_same_number_are_found_by_the_thread_sanitizer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kFound = 66;  // the sanitizer's exit status
  EXPECT_EXIT(
      {
        std::vector<int> shared(1);
        Team(2).run([&](int) { ++shared[0]; });
        std::_Exit(shared[0]);
      },
      testing::ExitedWithCode(kFound), "data race");
}
#endif

}  // namespace
}  // namespace cosmic
