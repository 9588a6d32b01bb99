#include "data/detector/noise.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "data/detector/quantile.hpp"

namespace cosmic::data::detector {
namespace {

constexpr double kThreshold = 5;
constexpr int kReadouts = 5;

struct Hits {
  double per_pixel = 0;         ///< share of pixels
  double followed = 0;          ///< share of hits with another in the next row
  double followed_after_8 = 0;  ///< and 8 rows later
  double median = 0;
};

Hits measure(std::size_t plane, DriftVolume volume) {
  const NoiseHits noise(kThreshold);
  std::vector<float> values;
  std::size_t next = 0;
  std::size_t eighth = 0;
  for (int readout = 0; readout < kReadouts; ++readout) {
    RandomStream random(1, "noise " + std::to_string(readout));
    std::vector<NoiseHit> hits;
    noise.draw(random, plane, hits);
    std::set<std::pair<std::int64_t, std::int64_t>> pixels;
    std::uint64_t previous = 0;
    for (const NoiseHit& hit : hits) {
      EXPECT_GT(hit.id, previous) << "hits are not in order, or one pixel was hit twice";
      previous = hit.id;
      const auto column = static_cast<std::int64_t>(hit.id / kRows);
      const auto row = static_cast<std::int64_t>(hit.id % kRows);
      EXPECT_GE(column, wires_of(plane).first);
      EXPECT_LE(column, wires_of(plane).last);
      EXPECT_GE(hit.value, kThreshold);
      if (volume_of_row(row) == volume) {
        pixels.emplace(column, row);
        values.push_back(hit.value);
      }
    }
    for (const auto& [column, row] : pixels) {
      next += pixels.count({column, row + 1});
      eighth += pixels.count({column, row + 8});
    }
  }
  const auto count = static_cast<double>(values.size());
  const WireRange wires = wires_of(plane);
  return {count / (kReadouts * static_cast<double>((wires.last - wires.first + 1) * kRowsOfVolume)),
          static_cast<double>(next) / count, static_cast<double>(eighth) / count,
          quantile(values, 0.5)};
}

// The expectations are those of the real sample's background pixels that are far from any track,
// mean of five events.

TEST(Noise, collection_wires_have_a_few_single_pixels) {
  for (const DriftVolume volume : {DriftVolume::negative_x, DriftVolume::positive_x}) {
    const Hits hits = measure(2, volume);
    EXPECT_NEAR(hits.per_pixel, 1.8e-4, 0.3e-4);
    EXPECT_NEAR(hits.median, 5.3, 0.1);
    EXPECT_LT(hits.followed, 0.01);
  }
}

TEST(Noise, first_induction_wires_have_more_single_pixels) {
  const Hits hits = measure(0, DriftVolume::negative_x);
  EXPECT_NEAR(hits.per_pixel, 8.0e-4, 1.0e-4);
  EXPECT_NEAR(hits.median, 5.3, 0.1);
  EXPECT_LT(hits.followed, 0.01);
}

TEST(Noise, second_induction_wires_have_streaks_along_time) {
  for (const auto& [plane, volume] : {std::pair{std::size_t{0}, DriftVolume::positive_x},
                                      std::pair{std::size_t{1}, DriftVolume::negative_x}}) {
    const Hits hits = measure(plane, volume);
    EXPECT_NEAR(hits.per_pixel, 8.9e-3, 0.6e-3);
    EXPECT_NEAR(hits.median, 5.5, 0.1);
    EXPECT_NEAR(hits.followed, 0.27, 0.04);
    EXPECT_NEAR(hits.followed_after_8, 0.055, 0.015);
  }
}

TEST(Noise, half_of_the_image_of_each_induction_plane_is_the_noisy_one) {
  EXPECT_EQ(role_of(0, DriftVolume::negative_x), WireRole::first_induction);
  EXPECT_EQ(role_of(1, DriftVolume::negative_x), WireRole::second_induction);
  EXPECT_EQ(role_of(0, DriftVolume::positive_x), WireRole::second_induction);
  EXPECT_EQ(role_of(1, DriftVolume::positive_x), WireRole::first_induction);
}

}  // namespace
}  // namespace cosmic::data::detector
