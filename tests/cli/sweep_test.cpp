#include "cli/sweep.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace cosmic::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(Sweep, is_every_combination_each_in_a_place_of_its_own) {
  const std::vector<SweepJob> jobs =
      sweep_jobs({"run.id=s", "run.seed=1,2", "network=a21,uresnet", "output_dir=out"});
  ASSERT_THAT(jobs, SizeIs(4));
  EXPECT_THAT(jobs[0].words,
              ElementsAre("run.id=s-0", "run.seed=1", "network=a21", "output_dir=out/0"));
  EXPECT_THAT(jobs[3].words,
              ElementsAre("run.id=s-3", "run.seed=2", "network=uresnet", "output_dir=out/3"));
  EXPECT_THAT(jobs[1].changed, ElementsAre("run.seed=1", "network=uresnet"));
}

TEST(Sweep, leaves_lists_in_brackets_and_quotes_alone) {
  const std::vector<SweepJob> jobs =
      sweep_jobs({"run.id=s", "data.file=[a.h5,b.h5],c.h5", "data.aux_file='d,e'"});
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_THAT(jobs[0].words,
              ElementsAre("run.id=s-0", "data.file=[a.h5,b.h5]", "data.aux_file='d,e'"));
}

TEST(Sweep, of_nothing_or_without_a_name_is_refused) {
  EXPECT_THAT([] { sweep_jobs({"run.id=s"}); },
              ThrowsMessage<UserError>(HasSubstr("separate the values")));
  EXPECT_THAT([] { sweep_jobs({"run.seed=1,2"}); },
              ThrowsMessage<UserError>(HasSubstr("give one such as run.id=sweep")));
}

}  // namespace
}  // namespace cosmic::cli
