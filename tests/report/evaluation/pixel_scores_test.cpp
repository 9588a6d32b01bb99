#include "report/evaluation/pixel_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cosmic::report::evaluation {
namespace {

/// Two rows and three columns; pixels as (column, row, probability).
struct Pixel {
  std::uint64_t column;
  std::uint64_t row;
  float probability;
};

data::SparseImage image_of(const std::vector<Pixel>& pixels) {
  data::SparseImage image;
  for (data::SparsePlane& plane : image) {
    plane.meta.pixels = {3, 2};
  }
  for (const Pixel& pixel : pixels) {
    image[0].ids.push_back(pixel.column * 2 + pixel.row);
    image[0].values.push_back(pixel.probability);
  }
  return image;
}

TEST(PixelScores, of_two_events_are_added_up_and_come_back_from_bytes) {
  std::vector<std::uint8_t> labels(3 * 6, 0);
  labels[0] = 2;
  PixelScores first;
  first.add(image_of({{0, 0, 0.1F}, {2, 1, 0.9F}}), labels);
  PixelScores second;
  second.add(image_of({{1, 0, 0.9F}}), labels);
  ByteWriter bytes;
  second.put(bytes);
  ByteReader reader(bytes.bytes(), "scores", "");
  first += PixelScores::taken(reader);
  reader.require_end();
  EXPECT_EQ(first.pixels(), 3);
  EXPECT_EQ(first.neutrinos(), 1);
  EXPECT_EQ(first.calibration(2).back().pixels, 2);
  EXPECT_DOUBLE_EQ(first.calibration(2).back().mean_probability, static_cast<double>(0.9F));
}

TEST(PixelScores, finds_the_label_of_a_stored_pixel) {
  std::vector<std::uint8_t> labels(3 * 6, 0);
  labels[1 * 3 + 2] = 2;  // plane 0, row 1, column 2
  PixelScores scores;
  scores.add(image_of({{0, 0, 0.1F}, {2, 1, 0.9F}}), labels);
  EXPECT_EQ(scores.pixels(), 2);
  EXPECT_EQ(scores.neutrinos(), 1);
  const auto scan = scores.threshold_scan();
  EXPECT_DOUBLE_EQ(scan[0].efficiency, 1);
  EXPECT_DOUBLE_EQ(scan[0].purity, 0.5);
  const std::size_t half = PixelScores::kBins / 2;
  EXPECT_DOUBLE_EQ(scan[half].threshold, 0.5);
  EXPECT_DOUBLE_EQ(scan[half].efficiency, 1);
  EXPECT_DOUBLE_EQ(scan[half].purity, 1);
  EXPECT_DOUBLE_EQ(scan.back().efficiency, 0);
  EXPECT_TRUE(std::isnan(scan.back().purity));
}

TEST(PixelScores, measures_how_far_probabilities_are_from_the_truth) {
  std::vector<std::uint8_t> labels(3 * 6, 0);
  labels[0] = 2;
  PixelScores scores;
  // Of two pixels with 0.8, one is a neutrino: off by 0.3 on average. One with 0 is none.
  scores.add(image_of({{0, 0, 0.8F}, {1, 0, 0.8F}, {2, 0, 0.0F}}), labels);
  const auto groups = scores.calibration(10);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].pixels, 1);
  EXPECT_EQ(groups[1].pixels, 2);
  EXPECT_EQ(groups[1].neutrinos, 1);
  EXPECT_NEAR(groups[1].mean_probability, 0.8, 1e-6);
  EXPECT_NEAR(scores.calibration_error(10), 0.6 / 3, 1e-6);
}

TEST(PixelScores, takes_probability_one_and_no_pixels_at_all) {
  PixelScores scores;
  EXPECT_TRUE(std::isnan(scores.calibration_error(10)));
  EXPECT_TRUE(std::isnan(scores.threshold_scan()[0].efficiency));
  scores.add(image_of({{0, 0, 1.0F}}), std::vector<std::uint8_t>(18, 2));
  EXPECT_DOUBLE_EQ(scores.threshold_scan().back().purity, 1);
}

}  // namespace
}  // namespace cosmic::report::evaluation
