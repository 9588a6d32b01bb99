#include "data/downsample.hpp"

#include <gmock/gmock.h>

#include <map>

#include "core/error.hpp"
#include "data/sparse_events.hpp"

namespace cosmic::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// The definition, word by word.
SparsePlane naive(const SparsePlane& plane, int downsample, Pooling pooling) {
  const std::uint64_t side = std::uint64_t{1} << downsample;
  const std::uint64_t rows = plane.meta.rows();
  std::map<std::uint64_t, float> blocks;
  for (std::size_t i = 0; i < plane.ids.size(); ++i) {
    const std::uint64_t column = plane.ids[i] / rows;
    const std::uint64_t row = plane.ids[i] % rows;
    const std::uint64_t id = column / side * (rows / side) + row / side;
    const float value = plane.values[i];
    if (pooling == Pooling::average) {
      blocks[id] += value;
    } else if (!blocks.contains(id) || blocks[id] < value) {
      blocks[id] = value;
    }
  }
  SparsePlane result;
  for (const auto& [id, value] : blocks) {
    result.ids.push_back(id);
    result.values.push_back(pooling == Pooling::average ? value / static_cast<float>(side * side)
                                                        : value);
  }
  return result;
}

SparsePlane plane_with(const ImageMeta& grid, std::vector<std::uint64_t> ids,
                       std::vector<float> values) {
  return {grid, std::move(ids), std::move(values)};
}

TEST(Downsample, agrees_bit_by_bit_with_the_definition_on_random_planes) {
  RandomStream random(1, "planes");
  for (const auto& [rows, columns] : {std::pair(64, 96), std::pair(8, 8), std::pair(160, 16)}) {
    const ImageMeta grid =
        grid_of(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns));
    for (const double share : {0.0, 0.01, 0.3, 1.0}) {
      const SparsePlane plane = random_plane(grid, share, random);
      for (const int downsample : {1, 2, 3}) {
        for (const Pooling pooling : {Pooling::average, Pooling::maximum}) {
          Downsampler downsampler(grid, downsample);
          SparsePlane result;
          downsampler.downsample(plane, pooling, result);
          const SparsePlane expected = naive(plane, downsample, pooling);
          ASSERT_EQ(result.ids, expected.ids);
          ASSERT_EQ(result.values, expected.values);
        }
      }
    }
  }
}

TEST(Downsample, sums_in_stored_order) {
  // In float32, 1 vanishes beside 2^24; any other order would give another sum.
  const float huge = 16'777'216.0F;
  const SparsePlane plane = plane_with(grid_of(2, 2), {0, 1, 2, 3}, {huge, 1, 1, 4});
  Downsampler downsampler(plane.meta, 1);
  SparsePlane result;
  downsampler.downsample(plane, Pooling::average, result);
  EXPECT_THAT(result.values, ElementsAre((huge + 4) / 4));
}

TEST(Downsample, averages_over_the_whole_block_and_takes_the_highest_label) {
  const ImageMeta grid = grid_of(4, 4);
  SparsePlane result;
  Downsampler downsampler(grid, 1);
  downsampler.downsample(plane_with(grid, {0, 15}, {8, 6}), Pooling::average, result);
  EXPECT_THAT(result.ids, ElementsAre(0U, 3U));
  EXPECT_THAT(result.values, ElementsAre(2.0F, 1.5F));
  downsampler.downsample(plane_with(grid, {0, 1, 4, 15}, {1, 2, 0, 0}), Pooling::maximum, result);
  EXPECT_THAT(result.ids, ElementsAre(0U, 3U));
  EXPECT_THAT(result.values, ElementsAre(2.0F, 0.0F));
}

TEST(Downsample, keeps_the_physical_size_and_the_projection) {
  SparsePlane plane = plane_with(grid_of(8, 16), {3}, {1});
  plane.meta.projection = 2;
  Downsampler downsampler(grid_of(8, 16), 2);
  SparsePlane result;
  downsampler.downsample(plane, Pooling::average, result);
  EXPECT_EQ(result.meta.rows(), 2U);
  EXPECT_EQ(result.meta.columns(), 4U);
  EXPECT_EQ(result.meta.size, plane.meta.size);
  EXPECT_EQ(result.meta.projection, 2U);
}

TEST(Downsample, by_nothing_copies) {
  RandomStream random(2, "plane");
  const SparsePlane plane = random_plane(grid_of(20, 30), 0.2, random);
  Downsampler downsampler(plane.meta, 0);
  SparsePlane result;
  downsampler.downsample(plane, Pooling::average, result);
  EXPECT_EQ(result.ids, plane.ids);
  EXPECT_EQ(result.values, plane.values);
}

TEST(Downsample, refuses_a_size_that_does_not_divide) {
  EXPECT_THAT([] { downsampled(grid_of(1280, 2044), 3); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr("2044"), HasSubstr("downsample is 3"), HasSubstr("of 8"))));
  EXPECT_THROW(downsampled(grid_of(2, 4), 2), UserError);
  EXPECT_THROW(downsampled(grid_of(4, 4), -1), UserError);
  EXPECT_THROW(downsampled(grid_of(4, 4), 64), UserError);
}

TEST(Downsample, refuses_pixels_outside_of_the_grid_at_any_factor) {
  const ImageMeta grid = grid_of(4, 4);
  SparsePlane result;
  for (const int downsample : {0, 1}) {
    Downsampler downsampler(grid, downsample);
    EXPECT_THAT(
        [&] {
          downsampler.downsample(plane_with(grid, {2, 16}, {1, 1}), Pooling::average, result);
        },
        ThrowsMessage<DataError>(AllOf(HasSubstr("id 16"), HasSubstr("end at 15"))));
    EXPECT_THROW(downsampler.downsample(plane_with(grid, {~std::uint64_t{0}}, {1}),
                                        Pooling::average, result),
                 DataError);
  }
}

TEST(Downsample, refuses_columns_out_of_order_and_planes_of_another_size) {
  const ImageMeta grid = grid_of(4, 4);
  Downsampler downsampler(grid, 1);
  SparsePlane result;
  EXPECT_THAT(
      [&] {
        downsampler.downsample(plane_with(grid, {9, 1}, {1, 1}), Pooling::average, result);
      },
      ThrowsMessage<DataError>(HasSubstr("pixel id 1 follows")));
  EXPECT_THAT(
      [&] {
        downsampler.downsample(plane_with(grid_of(8, 4), {1}, {1}), Pooling::average, result);
      },
      ThrowsMessage<DataError>(HasSubstr("has 8 rows")));
  EXPECT_THROW(downsampler.downsample(plane_with(grid, {1, 2}, {1}), Pooling::average, result),
               DataError);
}

TEST(Downsample, accepts_a_plane_that_was_not_stored) {
  Downsampler downsampler(grid_of(4, 4), 1);
  SparsePlane result = plane_with(grid_of(4, 4), {3}, {1});
  downsampler.downsample(SparsePlane{}, Pooling::average, result);
  EXPECT_TRUE(result.ids.empty());
}

TEST(Downsample, a_refused_plane_leaves_nothing_for_the_next) {
  const ImageMeta grid = grid_of(4, 4);
  Downsampler downsampler(grid, 1);
  SparsePlane result;
  EXPECT_THROW(downsampler.downsample(plane_with(grid, {1, 99}, {7, 7}), Pooling::average, result),
               DataError);
  downsampler.downsample(plane_with(grid, {2}, {4}), Pooling::average, result);
  EXPECT_THAT(result.ids, ElementsAre(1U));
  EXPECT_THAT(result.values, ElementsAre(1.0F));
}

}  // namespace
}  // namespace cosmic::data
