#include "picture/charge_scale.hpp"

#include <gtest/gtest.h>

namespace cosmic::picture {
namespace {

TEST(ChargeScale, fits_the_charges_and_lets_few_saturate) {
  std::vector<float> charges(10'000, 20);
  charges[0] = 5;
  charges[1] = 1e6F;
  charges[2] = 0;
  const ChargeScale scale = charge_scale(charges);
  EXPECT_EQ(scale.low, 5);
  EXPECT_EQ(scale.high, 20);
  EXPECT_EQ(scale.share(1), 0);
  EXPECT_DOUBLE_EQ(scale.share(10), 0.5);
}

TEST(ChargeScale, has_two_ends_also_for_equal_charges_or_none) {
  EXPECT_EQ(charge_scale({7, 7}).high, 14);
  EXPECT_LT(charge_scale({}).low, charge_scale({}).high);
}

}  // namespace
}  // namespace cosmic::picture
