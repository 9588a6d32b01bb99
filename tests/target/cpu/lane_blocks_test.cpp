#include "target/cpu/kernels/lane_blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

// Fewer than a square has, whole squares, and some beside them.
constexpr std::int64_t kCounts[] = {1, 3, 4, 8, 9, 27};
constexpr std::int64_t kPadding = 5;

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST(LaneBlocks, have_the_number_of_each_lane_side_by_side) {
  for (const std::int64_t count : kCounts) {
    const std::int64_t from_stride = count + kPadding;
    const std::int64_t to_stride = kBlock + kPadding;
    const std::vector<float> from = numbers(kBlock * from_stride);
    std::vector<float> to(static_cast<std::size_t>(count * to_stride), 0);
    join_lanes(to.data(), to_stride, from.data(), from_stride, count);
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t lane = 0; lane < to_stride; ++lane) {
        const auto at = static_cast<std::size_t>(lane * from_stride + k);
        EXPECT_EQ(to[static_cast<std::size_t>(k * to_stride + lane)], lane < kBlock ? from[at] : 0);
      }
    }
  }
}

TEST(LaneBlocks, are_parted_into_the_lanes_that_were_joined) {
  for (const std::int64_t count : kCounts) {
    const std::vector<float> lanes = numbers(kBlock * count);
    std::vector<float> joined(lanes.size());
    std::vector<float> again(lanes.size());
    join_lanes(joined.data(), kBlock, lanes.data(), count, count);
    part_lanes(again.data(), count, joined.data(), kBlock, count);
    EXPECT_EQ(again, lanes);
  }
}

}  // namespace
}  // namespace cosmic::target::cpu
