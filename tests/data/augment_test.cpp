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

}  // namespace
}  // namespace cosmic::data
