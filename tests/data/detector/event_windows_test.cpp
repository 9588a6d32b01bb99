#include "data/detector/event_windows.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::data::detector {
namespace {

constexpr std::int64_t kWindowRows = 64;
constexpr std::int64_t kWindowColumns = 96;
constexpr std::size_t kPixels = data::kPlanes * kWindowRows * kWindowColumns;

TEST(EventWindows, are_appended_as_three_planes_whose_labels_are_on_charge) {
  EventWindows events(kWindowRows, kWindowColumns, 1);
  std::vector<float> image;
  std::vector<std::uint8_t> label;
  events.append(0, image, label);
  events.append(1, image, label);
  ASSERT_EQ(image.size(), 2 * kPixels);
  ASSERT_EQ(label.size(), 2 * kPixels);
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (label[i] != 0) {
      ASSERT_GT(image[i], 0);
    }
  }
}

TEST(EventWindows, nearly_all_show_the_neutrino_and_many_a_cosmic_ray) {
  EventWindows events(kWindowRows, kWindowColumns, 2);
  int neutrino = 0;
  int cosmic = 0;
  constexpr int kEvents = 20;
  for (int index = 0; index < kEvents; ++index) {
    std::vector<float> image;
    std::vector<std::uint8_t> label;
    events.append(index, image, label);
    neutrino += std::count(label.begin(), label.end(), 2) > 10 ? 1 : 0;
    cosmic += std::count(label.begin(), label.end(), 1) > 10 ? 1 : 0;
  }
  EXPECT_GE(neutrino, kEvents - 2);
  EXPECT_GE(cosmic, kEvents / 2);
}

TEST(EventWindows, depend_on_the_seed_and_the_number_only) {
  std::vector<float> one;
  std::vector<float> other;
  std::vector<std::uint8_t> label;
  EventWindows first(kWindowRows, kWindowColumns, 3);
  first.append(5, one, label);
  EventWindows second(kWindowRows, kWindowColumns, 3);
  second.append(4, other, label);
  other.clear();
  label.clear();
  second.append(5, other, label);
  EXPECT_EQ(one, other);
}

TEST(EventWindows, an_image_larger_than_the_detectors_is_refused) {
  EXPECT_THAT([] { EventWindows(1296, 96, 1); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("1296 x 96")));
  EXPECT_THAT([] { EventWindows(0, 96, 1); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("0 x 96")));
}

}  // namespace
}  // namespace cosmic::data::detector
