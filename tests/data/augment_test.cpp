#include "data/augment.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

constexpr Flips kAllFlips[] = {{false, false}, {true, false}, {false, true}, {true, true}};

class Flipping : public testing::TestWithParam<Flips> {
 protected:
  ImageMeta grid_ = grid_of(12, 20);
  SparseEvent event_ = random_event(grid_, 0.2, 5);
};

TEST_P(Flipping, twice_gives_the_event_back) {
  SparseEvent flipped = event_;
  flip(flipped, GetParam());
  flip(flipped, GetParam());
  for (std::size_t plane = 0; plane < event_.image.size(); ++plane) {
    EXPECT_EQ(flipped.image[plane].ids, event_.image[plane].ids);
    EXPECT_EQ(flipped.image[plane].values, event_.image[plane].values);
    EXPECT_EQ(flipped.labels[plane].ids, event_.labels[plane].ids);
    EXPECT_EQ(flipped.labels[plane].values, event_.labels[plane].values);
  }
}

TEST_P(Flipping, moves_each_pixel_with_its_charge_and_label_to_the_mirrored_place) {
  SparseEvent flipped = event_;
  flip(flipped, GetParam());
  for (std::size_t plane = 0; plane < event_.image.size(); ++plane) {
    const SparsePlane& after = flipped.image[plane];
    ASSERT_TRUE(std::is_sorted(after.ids.begin(), after.ids.end()));
    ASSERT_EQ(flipped.labels[plane].ids, after.ids);
    ASSERT_EQ(after.ids.size(), event_.image[plane].ids.size());
    for (std::size_t i = 0; i < event_.image[plane].ids.size(); ++i) {
      std::uint64_t column = event_.image[plane].ids[i] / 12;
      std::uint64_t row = event_.image[plane].ids[i] % 12;
      column = GetParam().wire ? 19 - column : column;
      row = GetParam().time ? 11 - row : row;
      const auto found = std::lower_bound(after.ids.begin(), after.ids.end(), column * 12 + row);
      ASSERT_TRUE(found != after.ids.end() && *found == column * 12 + row);
      const auto at = static_cast<std::size_t>(found - after.ids.begin());
      EXPECT_EQ(after.values[at], event_.image[plane].values[i]);
      EXPECT_EQ(flipped.labels[plane].values[at], event_.labels[plane].values[i]);
    }
  }
}

TEST_P(Flipping, leaves_a_plane_that_was_not_stored_empty) {
  SparsePlane plane;
  flip(plane, GetParam());
  EXPECT_TRUE(plane.ids.empty());
}

INSTANTIATE_TEST_SUITE_P(Axes, Flipping, testing::ValuesIn(kAllFlips), [](const auto& test) {
  return std::string(test.param.wire ? "wire" : "no_wire") +
         (test.param.time ? "_time" : "_no_time");
});

TEST(RandomFlips, draw_all_four_about_equally_often) {
  RandomStream random(3, "flips");
  std::vector<int> counts(4);
  for (int draw = 0; draw < 4000; ++draw) {
    const Flips flips = random_flips(random);
    ++counts[(flips.wire ? 1U : 0U) + (flips.time ? 2U : 0U)];
  }
  EXPECT_THAT(counts, testing::Each(testing::AllOf(testing::Gt(850), testing::Lt(1150))));
}

TEST(ScaledCharge, is_that_of_each_plane_times_a_factor_of_its_own) {
  const SparseEvent event = random_event(grid_of(12, 20), 0.2, 5);
  SparseEvent scaled = event;
  RandomStream random(3, "charge");
  scale_charge(scaled.image, 0.25, random);
  std::set<float> factors;
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    EXPECT_EQ(scaled.image[plane].ids, event.image[plane].ids);
    const float factor = scaled.image[plane].values[0] / event.image[plane].values[0];
    EXPECT_GE(factor, 0.75F);
    EXPECT_LE(factor, 1.25F);
    factors.insert(factor);
    for (std::size_t i = 0; i < event.image[plane].values.size(); ++i) {
      EXPECT_NEAR(scaled.image[plane].values[i], factor * event.image[plane].values[i], 1e-4);
    }
  }
  EXPECT_EQ(factors.size(), event.image.size());
}

TEST(AddedNoise, has_its_deviation_and_leaves_no_negative_charge) {
  SparseEvent event = random_event(grid_of(100, 200), 0.5, 5);
  for (SparsePlane& plane : event.image) {
    std::fill(plane.values.begin(), plane.values.end(), 50.0F);
  }
  SparseEvent noisy = event;
  RandomStream random(3, "noise");
  add_noise(noisy.image, 2, random);
  double squares = 0;
  for (const float charge : noisy.image[0].values) {
    squares += (charge - 50.0) * (charge - 50.0);
  }
  EXPECT_NEAR(squares / static_cast<double>(noisy.image[0].values.size()), 4, 0.2);
  add_noise(noisy.image, 1000, random);
  EXPECT_THAT(noisy.image[1].values, testing::Each(testing::Ge(0.0F)));
}

TEST(DeadWires, lose_their_pixels_and_labels_and_the_others_none) {
  const SparseEvent event = random_event(grid_of(12, 400), 0.3, 5);
  SparseEvent dead = event;
  RandomStream random(3, "wires");
  kill_wires(dead, 0.25, random);
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    std::set<std::uint64_t> living;
    for (const std::uint64_t id : dead.image[plane].ids) {
      living.insert(id / 12);
    }
    EXPECT_GT(living.size(), 250U);
    EXPECT_LT(living.size(), 350U);
    std::vector<std::uint64_t> expected = event.image[plane].ids;
    std::erase_if(expected, [&](std::uint64_t id) { return !living.contains(id / 12); });
    EXPECT_EQ(dead.image[plane].ids, expected);
    EXPECT_EQ(dead.labels[plane].ids, expected);
    EXPECT_EQ(dead.image[plane].values.size(), expected.size());
  }
}

}  // namespace
}  // namespace cosmic::data
