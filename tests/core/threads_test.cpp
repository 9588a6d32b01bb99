// The team of threads, and the promise that everything else relies on: what a part writes is seen
// by whoever comes after the region, without locks of its own.
#include "core/threads.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <chrono>
#include <numeric>
#include <thread>
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

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Two trainings on the same cores starved each other while their threads waited by spinning.
TEST(Team, that_waits_leaves_its_cores_to_others) {
  const double seconds_apart = 0.3;
  const Team team(3);
  const auto wait = [seconds_apart] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_apart));
  };
  team.run([](int) {});
  const double before = processor_seconds();
  team.run([&](int index) {
    if (index == 1) {
      wait();  // the others wait for this one
    }
  });
  wait();  // all of them wait for the next region
  team.run([](int) {});
  EXPECT_LT(processor_seconds() - before, 0.2 * seconds_apart);
}

TEST(Team, within_a_team_makes_all_parts_one_after_the_other) {
  const Team team(3);
  std::vector<int> calls(9);
  team.run([&](int outer) {
    team.run([&](int inner) { ++calls[static_cast<std::size_t>(3 * outer + inner)]; });
  });
  EXPECT_THAT(calls, Each(1));
}

TEST(Team, of_another_size_takes_threads_along) {
  for (const int threads : {2, 5, 3, 4}) {
    std::vector<int> calls(static_cast<std::size_t>(threads));
    Team(threads).run([&](int index) { ++calls[static_cast<std::size_t>(index)]; });
    EXPECT_THAT(calls, Each(1)) << threads << " threads";
  }
}

TEST(Team, of_several_callers_work_at_the_same_time) {
  std::vector<std::int64_t> sums(4);
  std::vector<std::thread> callers;
  for (std::int64_t& sum : sums) {
    callers.emplace_back([&sum] {
      for (int region = 0; region < 200; ++region) {
        std::vector<int> parts(3);
        Team(3).run([&](int index) { parts[static_cast<std::size_t>(index)] = index; });
        sum += parts[0] + parts[1] + parts[2];
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_THAT(sums, Each(600));
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
