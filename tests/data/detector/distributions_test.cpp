#include "data/detector/distributions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/detector/quantile.hpp"

namespace cosmic::data::detector {
namespace {

constexpr std::size_t kDraws = 100'000;

template <class Draw>
std::vector<float> many(const Draw& draw) {
  RandomStream random(1, "many");
  std::vector<float> values(kDraws);
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(draw(random)); });
  return values;
}

double mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(QuantileTable, draws_the_distribution_with_both_its_tails) {
  const QuantileTable table([](double share) { return -std::log(1 - share); });
  std::vector<float> values = many([&](RandomStream& random) { return table.draw(random); });
  EXPECT_NEAR(mean(values), 1, 0.02);
  EXPECT_NEAR(quantile(values, 0.5), std::log(2), 0.02);
  EXPECT_NEAR(quantile(values, 0.9999), std::log(1e4), 0.8);
  EXPECT_NEAR(quantile(values, 0.0001), 1e-4, 0.5e-4);
}

TEST(Moyal, is_mostly_a_little_below_its_mean_and_sometimes_far_above) {
  std::vector<float> values = many([](RandomStream& random) { return centred_moyal(random); });
  EXPECT_NEAR(mean(values), 0, 0.03);
  EXPECT_NEAR(quantile(values, 0.5), -0.483, 0.02);  // of -ln z^2 less its mean, z normal
  EXPECT_NEAR(quantile(values, 0.999), 12.1, 0.7);
  EXPECT_GT(quantile(values, 0), -4.5);
}

TEST(NormalAbove, is_what_a_normal_distribution_leaves_above_a_threshold) {
  EXPECT_NEAR(normal_tail(3, 1.5, 4.5), 0.1587, 1e-4);
  const QuantileTable above = normal_above(3, 1.5, 4.5);
  std::vector<float> values = many([&](RandomStream& random) { return above.draw(random); });
  EXPECT_GE(quantile(values, 0), 4.5);
  EXPECT_NEAR(quantile(values, 0.5), 3 + 1.5 * 1.410, 0.02);  // 7.93 % are above 1.410 widths
  EXPECT_NEAR(quantile(values, 0.99), 3 + 1.5 * 2.951, 0.06);
}

TEST(Deflection, tilts_by_its_tangents_and_keeps_the_length) {
  for (const Vec3 axis :
       {Vec3{0, 0, 1}, Vec3{0, 0, -1}, Vec3{0.6, 0, 0.8}, Vec3{-0.48, 0.6, -0.64}}) {
    const Vec3 tilted = deflected(axis, 0.03, -0.04);
    EXPECT_NEAR(norm(tilted), 1, 1e-12);
    EXPECT_NEAR(dot(axis, tilted), std::cos(std::atan(0.05)), 1e-12);
  }
}

}  // namespace
}  // namespace cosmic::data::detector
