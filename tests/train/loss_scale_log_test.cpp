// What a run says about the scale of its loss.
#include "train/loss_scale_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cosmic::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LossScaleLines : public testing::Test {
 protected:
  void add(double scale, std::int64_t skipped = 0) {
    session::StepResult result;
    result.loss_scale = scale;
    result.skipped_updates = skipped;
    lines_.clear();
    log_.add(step_++, result);
  }

  std::vector<std::string> lines_;

 private:
  output::RunLog run_log_{{}, [this](const std::string& line) { lines_.push_back(line); }};
  LossScaleLog log_{run_log_};
  std::int64_t step_ = 0;
};

TEST_F(LossScaleLines, say_the_first_scale_and_each_that_is_another) {
  add(65536);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("65536")));
  add(65536);
  EXPECT_THAT(lines_, IsEmpty());
  add(131072);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("131072 after step 2"), HasSubstr("65536"))));
}

TEST_F(LossScaleLines, say_which_step_was_skipped_and_why) {
  add(32768, 1);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("Step 0 was skipped"), HasSubstr("not finite"),
                                        HasSubstr("32768"))));
  add(32768);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LossScaleLines, are_none_where_the_loss_is_not_scaled) {
  output::RunLog run_log({}, [](const std::string& line) { ADD_FAILURE() << line; });
  LossScaleLog log(run_log);
  log.add(3, {});
}

TEST_F(LossScaleLines, warn_once_of_a_scale_that_stays_below_one) {
  for (std::int64_t i = 0; i + 1 < LossScaleLog::kLong; ++i) {
    add(0.5);
    EXPECT_THAT(lines_, testing::Each(testing::Not(HasSubstr("WARNING")))) << i;
  }
  add(0.25, 1);
  EXPECT_THAT(lines_,
              testing::Contains(AllOf(HasSubstr("WARNING"), HasSubstr("below 1 for 100 steps"),
                                      HasSubstr("0.25"), HasSubstr("run.precision=bfloat16"))));
  add(0.25);
  EXPECT_THAT(lines_, IsEmpty());
  // One that has grown again may be warned of again.
  add(1);
  for (std::int64_t i = 0; i < LossScaleLog::kLong; ++i) {
    add(0.5);
  }
  EXPECT_THAT(lines_, testing::Contains(HasSubstr("WARNING")));
}

}  // namespace
}  // namespace cosmic::train
