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

/// A gradient through activation and normalisation of two images, as the kernels read it.
Recipe gradient_of(int channels, int rows, int columns) {
  Recipe recipe;
  recipe.formula.kind = Formula::Kind::gradient;
  recipe.formula.is_long = true;
  recipe.leaves = 2;
  recipe.coefficients = 3;
  recipe.channels = channels;
  recipe.rows = rows;
  recipe.columns = columns;
  for (int i = 0; i < 2; ++i) {
    Image& image = recipe.leaf[i].image;
    image.format = Format::bf16;
    image.channels = channels;
    image.rows = rows;
    image.columns = columns;
  }
  return recipe;
}

TEST(LaunchGeometry, puts_tiles_of_any_number_of_channels_on_the_chip) {
  for (const int taps : {1, 3, 5}) {
    for (const int filters : {3, 8, 16, 24, 32, 40, 80, 512}) {
      for (const int channels : {1, 8, 16, 24, 40, 80, 256, 512, 1024}) {
        for (const int rows : {10, 80, 640}) {
          ConvTile conv;
          conv.products = Products::bf16;
          conv.source = gradient_of(channels, rows, rows * 8 / 5);
          conv.sums.v = gradient_of(filters, rows, rows * 8 / 5);
          conv.sums.u = conv.sums.v;
          conv.addend = conv.sums.v;
          conv.taps = {1, taps, taps};
          conv.result = {1, rows, rows * 8 / 5};
          conv.batch = 24;
          conv.out.channels = filters;
          conv.geometry = conv_tile_geometry(conv, 1);
          EXPECT_LE(conv_tile_memory(conv).bytes, kMostSharedBytes)
              << taps << ' ' << filters << ' ' << channels << ' ' << rows;
          EXPECT_GE(conv.geometry.chunks * conv.geometry.chunk_blocks, conv.source.blocks());
          KernelGradientTile gradient;
          gradient.products = Products::bf16;
          gradient.image = gradient_of(channels, rows, rows * 8 / 5);
          gradient.dy = gradient_of(filters, rows, rows * 8 / 5);
          gradient.taps = {1, taps, taps};
          gradient.batch = 24;
          gradient.geometry = kernel_gradient_geometry(gradient, 1);
          EXPECT_LE(kernel_gradient_memory(gradient).bytes, kMostSharedBytes)
              << taps << ' ' << filters << ' ' << channels << ' ' << rows;
        }
      }
    }
  }
}

/// Some that had to wait for others would then have the card to themselves, and leave most of it
/// idle.
TEST(KernelGradients, of_large_images_have_as_many_blocks_as_run_at_the_same_time) {
  for (const int channels : {8, 16, 24, 32, 48}) {
    KernelGradientTile gradient;
    gradient.image = gradient.dy = gradient_of(channels, 640, 1024);
    gradient.products = Products::bf16;
    gradient.taps = {1, 3, 3};
    gradient.first = {0, -1, -1};
    gradient.batch = 24;
    for (const int slices : {1, 3}) {
      gradient.geometry = kernel_gradient_geometry(gradient, slices);
      const KernelGradientGeometry& g = gradient.geometry;
      const int at_once = 132 * gradient_blocks_of_multiprocessor(
                                    g.filter_columns, source_of(gradient.image, Products::bf16));
      const int blocks = g.blocks * slices * gradient.parts();
      EXPECT_LE(blocks, at_once) << channels << ' ' << slices;
      EXPECT_GE(blocks, at_once * 9 / 10) << channels << ' ' << slices;
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cuda
