#include "target/cuda/launch_geometry.hpp"

#include <gtest/gtest.h>

#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {
namespace {

TEST(LaunchGeometry, gives_every_element_a_thread_and_none_a_block_too_many) {
  EXPECT_EQ(blocks_for(0), 0);
  EXPECT_EQ(blocks_for(1), 1);
  EXPECT_EQ(blocks_for(kThreadsPerBlock), 1);
  EXPECT_EQ(blocks_for(kThreadsPerBlock + 1), 2);
  EXPECT_LE(blocks_for(std::int64_t{1} << 38), kMostBlocks);
}

TEST(LaunchGeometry, takes_short_sums_in_one_stage) {
  const ReductionGeometry geometry = reduction_geometry(3, 5000);
  EXPECT_EQ(geometry.chunks, 1);
  EXPECT_EQ(geometry.terms_per_chunk, 5000);
  EXPECT_EQ(partial_numbers(Reduction<ChannelSumBody>{{}, 3, 5000, nullptr}), 0);
}

TEST(LaunchGeometry, cuts_long_sums_into_chunks_that_cover_all_terms_once) {
  for (const std::int64_t outputs : {1, 16, 144, 2304, 100000}) {
    for (const std::int64_t terms : {1, 16384, 16385, 1000003, 15728640}) {
      const ReductionGeometry geometry = reduction_geometry(outputs, terms);
      EXPECT_GE(geometry.chunks * geometry.terms_per_chunk, terms) << outputs << ' ' << terms;
      EXPECT_LT((geometry.chunks - 1) * geometry.terms_per_chunk, terms) << outputs << ' ' << terms;
      EXPECT_LE(outputs * geometry.chunks, std::max(outputs, 2 * kBlocksWanted));
    }
  }
}

TEST(LaunchGeometry, needs_room_for_every_sum_of_every_chunk) {
  const Reduction<SegmentationSumsBody> sums{{}, 24, 15728640, nullptr};
  const ReductionGeometry geometry = reduction_geometry(24, 15728640);
  EXPECT_GT(geometry.chunks, 1);
  EXPECT_EQ(partial_numbers(sums), 24 * geometry.chunks * kSumsPerImage);
}

}  // namespace
}  // namespace cosmic::target::cuda
