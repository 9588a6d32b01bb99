#include "data/synthetic/track_generator.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/error.hpp"

namespace cosmic::data {
namespace {

constexpr std::int64_t kRows = 96;
constexpr std::int64_t kColumns = 160;
constexpr std::uint64_t kEvents = 50;

/// Rows of a plane with a pixel of this label.
std::set<std::int64_t> rows_with(const Event& event, std::int64_t plane, Label label) {
  std::set<std::int64_t> rows;
  for (std::int64_t pixel = 0; pixel < kRows * kColumns; ++pixel) {
    const auto at = static_cast<std::size_t>(plane * kRows * kColumns + pixel);
    if (event.label[at] == static_cast<std::uint8_t>(label)) {
      rows.insert(pixel / kColumns);
    }
  }
  return rows;
}

TEST(TrackGenerator, same_seed_and_index_give_the_same_event_in_any_order) {
  const TrackGenerator first(kRows, kColumns, 7);
  const TrackGenerator second(kRows, kColumns, 7);
  const Event late = first.event(3);
  const Event early = first.event(0);
  EXPECT_EQ(second.event(0).image, early.image);
  EXPECT_EQ(second.event(3).image, late.image);
  EXPECT_EQ(second.event(3).label, late.label);
}

TEST(TrackGenerator, other_seed_or_index_gives_another_event) {
  const TrackGenerator generator(kRows, kColumns, 7);
  EXPECT_NE(generator.event(0).image, generator.event(1).image);
  EXPECT_NE(generator.event(0).image, TrackGenerator(kRows, kColumns, 8).event(0).image);
}

TEST(TrackGenerator, only_charged_pixels_have_a_label) {
  const TrackGenerator generator(kRows, kColumns, 1);
  for (std::uint64_t index = 0; index < kEvents; ++index) {
    const Event event = generator.event(index);
    ASSERT_EQ(event.image.size(), static_cast<std::size_t>(kPlanes * kRows * kColumns));
    ASSERT_EQ(event.label.size(), event.image.size());
    for (std::size_t i = 0; i < event.image.size(); ++i) {
      ASSERT_GE(event.image[i], 0);
      if (event.label[i] != 0) {
        ASSERT_GT(event.image[i], 0);
      }
    }
  }
}

TEST(TrackGenerator, planes_see_a_neutrino_at_the_same_times) {
  const TrackGenerator generator(kRows, kColumns, 2);
  for (std::uint64_t index = 0; index < kEvents; ++index) {
    const Event event = generator.event(index);
    const std::set<std::int64_t> rows = rows_with(event, 0, Label::neutrino);
    EXPECT_FALSE(rows.empty());
    EXPECT_EQ(rows_with(event, 1, Label::neutrino), rows);
    EXPECT_EQ(rows_with(event, 2, Label::neutrino), rows);
  }
}

TEST(TrackGenerator, every_event_has_both_kinds_of_track_and_noise_and_is_sparse) {
  const TrackGenerator generator(kRows, kColumns, 3);
  double charged = 0;
  for (std::uint64_t index = 0; index < kEvents; ++index) {
    const Event event = generator.event(index);
    const auto has = [&](Label label) {
      return std::find(event.label.begin(), event.label.end(), static_cast<std::uint8_t>(label)) !=
             event.label.end();
    };
    EXPECT_TRUE(has(Label::cosmic));
    EXPECT_TRUE(has(Label::neutrino));
    bool noise = false;
    for (std::size_t i = 0; i < event.image.size(); ++i) {
      charged += event.image[i] > 0 ? 1 : 0;
      noise = noise || (event.image[i] > 0 && event.label[i] == 0);
    }
    EXPECT_TRUE(noise);
  }
  const double share = charged / static_cast<double>(kEvents * kPlanes * kRows * kColumns);
  EXPECT_GT(share, 0.005);
  EXPECT_LT(share, 0.04);
}

TEST(TrackGenerator, image_without_pixels_is_refused) {
  EXPECT_THAT([] { TrackGenerator(0, 10, 1); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("0 x 10")));
}

}  // namespace
}  // namespace cosmic::data
