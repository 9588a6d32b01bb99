// The rates of SPEC 9.2.
#include "train/schedule.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "train/run_length.hpp"

namespace cosmic::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ReferenceSchedule, has_the_check_values_of_the_reference) {
  const Schedule schedule =
      ReferenceSchedule{.peak = 3e-4, .minibatch_size = 2, .train_size = 43075};
  constexpr double kPrinted = 5e-11;  // half of the last digit given
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1e-4);
  EXPECT_NEAR(learning_rate(schedule, 10000), 1.928613e-4, kPrinted);
  EXPECT_NEAR(learning_rate(schedule, 21538), 3e-4, kPrinted);
  EXPECT_NEAR(learning_rate(schedule, 452288), 2.999954e-4, kPrinted);
  EXPECT_NEAR(learning_rate(schedule, 500000), 1.218721e-4, kPrinted);
  EXPECT_NEAR(learning_rate(schedule, 600000), 1.002116e-4, kPrinted);
}

TEST(ReferenceSchedule, rises_through_the_rates_of_the_golden_trajectory) {
  const Schedule schedule = ReferenceSchedule{.peak = 3e-4, .minibatch_size = 2, .train_size = 20};
  for (int step = 0; step < 6; ++step) {
    EXPECT_DOUBLE_EQ(learning_rate(schedule, step), 1e-4 + 0.2e-4 * step);
  }
}

TEST(ReferenceSchedule, never_ends) {
  const Schedule schedule = ReferenceSchedule{.peak = 1e-5, .minibatch_size = 1, .train_size = 1};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2), 1e-5);
  EXPECT_NEAR(learning_rate(schedule, 1'000'000), 1e-4, 1e-12) << "it rises to its floor";
}

TEST(FlatSchedule, is_the_peak_until_its_end) {
  const Schedule schedule =
      FlatSchedule{.peak = 1e-3, .length = {.epochs = 3, .updates_per_epoch = 10}};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 29), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 30), 0);
}

TEST(CosineSchedule, rises_in_its_warm_up_and_falls_to_its_floor_at_the_last_update) {
  const Schedule schedule =
      CosineSchedule{.peak = 1e-3, .floor = 1e-5, .warm_up = 4, .updates = 105};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1e-3 / 5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 4e-3 / 5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 4), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 54), (1e-3 + 1e-5) / 2);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 104), 1e-5);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1000), 1e-5);
}

TEST(CosineSchedule, without_an_end_or_all_warm_up_is_refused) {
  EXPECT_THAT([] { validate(CosineSchedule{.updates = 0}); },
              ThrowsMessage<UserError>(HasSubstr("give run.iterations or run.length")));
  EXPECT_THAT([] { validate(CosineSchedule{.warm_up = 10, .updates = 10}); },
              ThrowsMessage<UserError>(HasSubstr("warmup_iterations is 10")));
}

TEST(AverageDecay, grows_with_the_updates_to_the_one_it_is_to_have) {
  EXPECT_DOUBLE_EQ(average_decay(0.999, 0), 0.1);
  EXPECT_DOUBLE_EQ(average_decay(0.999, 90), 0.91);
  EXPECT_DOUBLE_EQ(average_decay(0.999, 100'000), 0.999);
  EXPECT_DOUBLE_EQ(average_decay(0.05, 0), 0.05);
}

TEST(StandardSchedule, warms_up_stays_and_decays) {
  const Schedule schedule = StandardSchedule{.peak = 1e-3,
                                             .floor = 1e-4,
                                             .decay_epochs = 2,
                                             .length = {.epochs = 5, .updates_per_epoch = 10}};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1e-6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5), 1e-6 + 5 * (1e-3 - 1e-6) / 10);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 10), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 29), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 30), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 31), 9e-4 * std::exp(-0.01) + 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 49), 9e-4 * std::exp(-0.19) + 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50), 0);
}

TEST(OneCycleSchedule, goes_up_and_down_and_decays) {
  const Schedule schedule = OneCycleSchedule{.peak = 1e-3,
                                             .minimum = 2e-4,
                                             .floor = 1e-4,
                                             .decay_epochs = 1,
                                             .length = {.epochs = 4, .updates_per_epoch = 5}};
  // 15 updates of a cycle: 7 up, 8 down.
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 2e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 2e-4 + 3 * 8e-4 / 7);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 7), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 11), 1e-3 - 4 * 8e-4 / 8);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 15), 2e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 19), 1e-4 * std::exp(-0.04) + 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 20), 0);
}

TEST(Schedule, of_fewer_epochs_than_its_parts_is_refused) {
  EXPECT_THAT(
      [] {
        validate(StandardSchedule{.decay_epochs = 5, .length = {5, 10}});
      },
      ThrowsMessage<UserError>(HasSubstr("5 epochs, its parts take more than 5")));
  EXPECT_NO_THROW(validate(StandardSchedule{.decay_epochs = 4, .length = {5, 10}}));
}

TEST(Schedule, of_rates_and_lengths_that_cannot_be_is_refused) {
  EXPECT_THAT([] { validate(FlatSchedule{.peak = -1e-3, .length = {}}); },
              ThrowsMessage<UserError>(HasSubstr("peak is -0.001")));
  EXPECT_THAT([] { validate(FlatSchedule{.peak = NAN, .length = {}}); },
              ThrowsMessage<UserError>(HasSubstr("peak is nan")));
  EXPECT_THAT(
      [] {
        validate(FlatSchedule{.length = {1, 0}});
      },
      ThrowsMessage<UserError>(HasSubstr("has 0 updates")));
  EXPECT_THAT([] { validate(ReferenceSchedule{.minibatch_size = 2, .train_size = 0}); },
              ThrowsMessage<UserError>(HasSubstr("0 events")));
  EXPECT_THAT([] { validate(OneCycleSchedule{.decay_epochs = -1, .length = {}}); },
              ThrowsMessage<UserError>(HasSubstr("decay_epochs is -1")));
}

TEST(Schedule, whose_parts_are_longer_than_any_number_is_refused) {
  StandardSchedule schedule;
  schedule.decay_epochs = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT([&] { validate(schedule); }, ThrowsMessage<UserError>(HasSubstr("its parts take")));
}

TEST(RunLength, that_runs_over_is_refused_and_not_taken_for_another) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  config::RunConfig run;
  run.length = kHuge;
  run.units = config::LengthUnit::epoch;
  EXPECT_THAT([&] { last_step_of(run, 6, {}); },
              ThrowsMessage<UserError>(HasSubstr("run.length = 4611686018427387904 epochs of 6")));
  run.units = config::LengthUnit::iteration;
  EXPECT_THAT([&] { last_step_of(run, 6, {}); },
              ThrowsMessage<UserError>(HasSubstr("run.length = 4611686018427387904")));
  run.length = 0;
  run.iterations = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT([&] { last_step_of(run, 6, {.began_at = 10, .first_step = 12}); },
              ThrowsMessage<UserError>(HasSubstr("after 10 updates")));
}

TEST(RunLength, is_that_of_the_whole_run_in_updates) {
  config::RunConfig run;
  run.iterations = 50;
  EXPECT_EQ(last_step_of(run, 6, {.began_at = 0, .first_step = 10}), 50);
  EXPECT_EQ(last_step_of(run, 6, {.began_at = 7, .first_step = 10}), 57) << "weights of another";
  run.restart = config::Restart::again;
  EXPECT_EQ(last_step_of(run, 6, {.began_at = 7, .first_step = 10}), 60);
  run.length = 3;
  run.units = config::LengthUnit::epoch;
  EXPECT_EQ(last_step_of(run, 6, {.began_at = 0, .first_step = 10}), 18);
}

}  // namespace
}  // namespace cosmic::train
