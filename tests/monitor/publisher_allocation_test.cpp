#include <gtest/gtest.h>

#include "allocation_counter.hpp"
#include "monitor/example_job.hpp"
#include "monitor/job_publisher.hpp"
#include "scratch_folder.hpp"

namespace cosmic::monitor {
namespace {

TEST(JobPublisher, allocates_nothing_while_the_job_runs) {
  if (!counts_allocations()) {
    GTEST_SKIP() << "a sanitizer replaces the allocator";
  }
  const ScratchFolder scratch("publisher");
  JobPublisher job(example_job(), scratch / "jobs");
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; ++i) {
                // Every change of state is written at once.
                job.update({.state = i % 2 == 0 ? JobState::running : JobState::compiling,
                            .done = 1'000'000'000 + i,
                            .total = 2'000'000'000,
                            .host_events_per_second = 1.0 / 3,
                            .modelled = {{2.0 / 3, 1.0 / 7, 1e300 / 3}},
                            .loss = 1e-300 / 3});
              }
            }),
            0);
}

}  // namespace
}  // namespace cosmic::monitor
