#include "data/loader/synthetic_batches.hpp"

#include <gmock/gmock.h>

#include <array>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

constexpr DenseShape kShape{.rows = 6, .columns = 10};

TEST(SyntheticBatches, begin_one_image_later_each_time_and_start_over_at_the_end) {
  SyntheticBatches batches({.batch = 10, .shape = kShape});
  std::vector<std::int64_t> firsts;
  for (int step = 0; step < 5; ++step) {
    const Batch& batch = *batches.next();
    EXPECT_EQ(batch.events(), 10);
    EXPECT_EQ(batch.valid, 10);
    EXPECT_EQ(batch.first_sample, 10 * step);
    EXPECT_EQ(batch.images.size(), 10 * kShape.event_pixels());
    firsts.push_back(batch.entries[0]);
  }
  EXPECT_THAT(firsts, testing::ElementsAre(0, 1, 2, 0, 1));  // twelve images
}

TEST(SyntheticBatches, of_more_events_than_there_would_be_images_are_all_the_same) {
  SyntheticBatches batches({.batch = 20, .shape = kShape});
  EXPECT_EQ(batches.next()->entries[0], 0);
  EXPECT_EQ(batches.next()->entries[0], 0);
}

TEST(SyntheticBatches, have_uniform_charge_below_one_and_all_labels) {
  SyntheticBatches batches({.batch = 12, .shape = {.rows = 40, .columns = 50}});
  const Batch& batch = *batches.next();
  double sum = 0;
  for (const float charge : batch.images) {
    ASSERT_GE(charge, 0);
    ASSERT_LT(charge, 1);
    sum += charge;
  }
  const auto pixels = static_cast<double>(batch.images.size());
  EXPECT_NEAR(sum / pixels, 0.5, 0.01);
  std::array<double, 3> labels{};
  for (const std::uint8_t label : batch.labels) {
    labels.at(label) += 1 / pixels;
  }
  EXPECT_THAT(labels, testing::Each(testing::DoubleNear(1.0 / 3, 0.01)));
}

TEST(SyntheticBatches, depend_on_the_seed) {
  const auto first_charge = [](std::uint64_t seed) {
    SyntheticBatches batches({.batch = 1, .shape = kShape, .seed = seed});
    return batches.next()->images[0];
  };
  EXPECT_EQ(first_charge(1), first_charge(1));
  EXPECT_NE(first_charge(1), first_charge(2));
}

TEST(SyntheticBatches, that_hold_nothing_are_refused) {
  EXPECT_THAT([] { SyntheticBatches({.batch = 0, .shape = kShape}); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("of 0 events")));
  EXPECT_THROW(SyntheticBatches({.batch = 1, .shape = {.rows = 0, .columns = 4}}), UserError);
}

}  // namespace
}  // namespace cosmic::data
