#include "train/find_learning_rate.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace cosmic::train {
namespace {

TEST(FoundRate, is_a_tenth_of_that_with_the_lowest_smoothed_loss) {
  FoundRate found;
  double rate = 1e-5;
  for (const double loss : {1.0, 0.9, 0.7, 0.4, 0.3, 0.8, 2.5}) {
    if (!add_point(found, rate, loss)) {
      break;
    }
    rate *= 10;
  }
  EXPECT_DOUBLE_EQ(found.points[0].smoothed, 1.0);
  EXPECT_NEAR(found.points[1].smoothed, (0.9 * 1.0 + 0.9) / 1.9, 1e-12);
  ASSERT_TRUE(found.suggestion().has_value());
  EXPECT_DOUBLE_EQ(*found.suggestion(), found.points[4].rate / 10);
}

TEST(FoundRate, ends_where_the_loss_explodes_or_is_no_number) {
  FoundRate found;
  EXPECT_TRUE(add_point(found, 1e-3, 1));
  EXPECT_FALSE(add_point(found, 1e-2, 100));
  EXPECT_TRUE(found.diverged);
  FoundRate lost;
  EXPECT_TRUE(add_point(lost, 1e-3, 1));
  EXPECT_FALSE(add_point(lost, 1e-2, std::nan("")));
  EXPECT_EQ(lost.points.size(), 1U);
}

TEST(FoundRate, is_none_where_the_loss_never_falls) {
  FoundRate found;
  EXPECT_TRUE(add_point(found, 1e-3, 1));
  EXPECT_TRUE(add_point(found, 1e-2, 1.2));
  EXPECT_FALSE(found.suggestion().has_value());
}

}  // namespace
}  // namespace cosmic::train
