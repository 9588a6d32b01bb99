#include "report/evaluation/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace cosmic::report::evaluation {
namespace {

TEST(Wilson, has_the_values_of_the_formula) {
  // (p + 1/2n ± sqrt(p(1-p)/n + 1/4n²)) / (1 + 1/n) with n = 10.
  const Share half = wilson(5, 10);
  EXPECT_DOUBLE_EQ(half.value, 0.5);
  EXPECT_NEAR(half.low, 0.5 - std::sqrt(0.0275) / 1.1, 1e-12);
  EXPECT_NEAR(half.high, 0.5 + std::sqrt(0.0275) / 1.1, 1e-12);
}

TEST(Wilson, leaves_room_where_all_trials_ended_alike) {
  const Share none = wilson(0, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1.0 / 11, 1e-12);
  const Share all = wilson(10, 10);
  EXPECT_NEAR(all.low, 10.0 / 11, 1e-12);
  EXPECT_EQ(all.high, 1);
}

TEST(Wilson, knows_nothing_without_trials) {
  const Share share = wilson(0, 0);
  EXPECT_TRUE(std::isnan(share.value));
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
}

TEST(PixelShare, is_the_share_of_all_pixels_together) {
  PixelShare share;
  share.add(1, 10);
  share.add(0, 0);  // says nothing
  share.add(90, 90);
  EXPECT_EQ(share.part(), 91);
  EXPECT_EQ(share.whole(), 100);
  EXPECT_EQ(share.events(), 2);
  EXPECT_DOUBLE_EQ(share.share().value, 0.91);
}

TEST(PixelShare, counts_an_event_as_one_trial_where_pixels_stick_together) {
  PixelShare together;
  for (int event = 0; event < 10; ++event) {
    together.add(event % 2 == 0 ? 100 : 0, 100);  // all or nothing
  }
  const Share share = together.share();
  const Share ten_trials = wilson(5, 10);
  // The spread of ten is estimated with nine degrees of freedom.
  EXPECT_NEAR(share.high - share.low, ten_trials.high - ten_trials.low, 0.02);
  PixelShare one_event;
  one_event.add(70, 100);
  EXPECT_NEAR(one_event.share().low, wilson(0.7, 1).low, 1e-12);
}

TEST(PixelShare, counts_every_pixel_where_they_are_independent) {
  RandomStream random(1, "pixels");
  PixelShare share;
  constexpr int kEvents = 400;
  constexpr int kPixels = 50;
  for (int event = 0; event < kEvents; ++event) {
    int part = 0;
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      part += random.uniform() < 0.3 ? 1 : 0;
    }
    share.add(part, kPixels);
  }
  const Share found = share.share();
  const Share pixels = wilson(static_cast<double>(share.part()), kEvents * kPixels);
  EXPECT_NEAR((found.high - found.low) / (pixels.high - pixels.low), 1, 0.15);
}

}  // namespace
}  // namespace cosmic::report::evaluation
