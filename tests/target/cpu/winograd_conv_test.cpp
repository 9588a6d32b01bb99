#include "target/cpu/winograd_conv.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"

namespace cosmic::target::cpu {
namespace {

BlockedImage image_of(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  return BlockedImage({graph::DType::f32, {1, channels, rows, columns}});
}

graph::FeatureMap kernel_of(std::int64_t filters, std::int64_t channels, std::int64_t side) {
  return {filters, channels, 1, side, side};
}

const graph::Window kSame{{1, 1, 1}, {0, 1, 1}};

TEST(WinogradConv, is_worth_it_for_wide_images_with_a_block_of_channels) {
  const BlockedImage image = image_of(8, 8, 64);
  EXPECT_TRUE(WinogradConv::worth(kernel_of(8, 8, 3), kSame, image, image).ok);
}

TEST(WinogradConv, says_why_it_is_not_used_where_it_would_be_wrong_or_slower) {
  const auto why_not = [](const graph::FeatureMap& kernel, const graph::Window& window,
                          const BlockedImage& input, const BlockedImage& output) {
    return WinogradConv::worth(kernel, window, input, output).why_not;
  };
  const BlockedImage image = image_of(16, 8, 64);
  EXPECT_EQ(why_not(kernel_of(16, 16, 5), {{1, 1, 1}, {0, 2, 2}}, image, image),
            "the kernel is 5 x 5, not 3 x 3");
  EXPECT_EQ(why_not(kernel_of(16, 16, 3), {{1, 2, 2}, {0, 1, 1}}, image, image_of(16, 4, 32)),
            "stride and padding are not 1");
  EXPECT_EQ(why_not(kernel_of(16, 16, 3), {}, image, image_of(16, 6, 62)),
            "stride and padding are not 1");
  const BlockedImage rows_left_over = image_of(16, 6, 64);
  EXPECT_EQ(why_not(kernel_of(16, 16, 3), kSame, rows_left_over, rows_left_over),
            "an image of 6 x 64 is not made of whole tiles of 4 x 4");
  const BlockedImage columns_left_over = image_of(16, 8, 66);
  EXPECT_EQ(why_not(kernel_of(16, 16, 3), kSame, columns_left_over, columns_left_over),
            "an image of 8 x 66 is not made of whole tiles of 4 x 4");
  const BlockedImage thin = image_of(4, 8, 64);
  EXPECT_NE(why_not(kernel_of(4, 4, 3), kSame, thin, thin), "");
}

constexpr std::int64_t kRows = kWinogradTile;

/// Four rows of a convolution, or of a transposed one, with zero rows above and below.
void expect_agreement_with_direct_sums(std::int64_t channels, std::int64_t filters,
                                       std::int64_t columns, bool transposed) {
  const BlockedImage input = image_of(channels, kRows, columns);
  const BlockedImage output = image_of(filters, kRows, columns);
  RandomStream random(3, "winograd");
  std::vector<float> kernel(static_cast<std::size_t>(channels * filters * 9));
  for (float& k : kernel) {
    k = static_cast<float>(random.uniform(-1, 1));
  }
  // One zero pixel on either side of each row.
  const std::int64_t row_floats = (columns + 2) * kBlock;
  std::vector<float> rows(static_cast<std::size_t>(input.blocks() * kRows * row_floats), 0.0F);
  const auto pixel = [&](std::int64_t c, std::int64_t row, std::int64_t x) -> float& {
    return rows[static_cast<std::size_t>((c / kBlock * kRows + row) * row_floats +
                                         (x + 1) * kBlock + c % kBlock)];
  };
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t x = 0; x < columns; ++x) {
        pixel(c, row, x) = static_cast<float>(random.uniform(-1, 1));
      }
    }
  }
  const std::vector<float> bias(static_cast<std::size_t>(output.blocks() * kBlock), 0.5F);
  std::vector<float> result(static_cast<std::size_t>(output.floats()), -7.0F);
  WinogradConv conv(input, output);
  conv.prepare(Team(2, 0), kernel.data(), transposed);
  std::vector<float> scratch(static_cast<std::size_t>(conv.scratch_floats()));
  WinogradConv::Rows task;
  for (std::int64_t row = 0; row < kRows; ++row) {
    task.input[row + 1] = rows.data() + row * row_floats + kBlock;
    task.output[row] = result.data() + output.offset(0, 0, row);
  }
  task.input_block_stride = kRows * row_floats;
  task.output_block_stride = output.block_stride();
  task.bias = bias.data();
  conv.run(task, scratch.data());
  for (std::int64_t f = 0; f < filters; ++f) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t x = 0; x < columns; ++x) {
        double expected = 0.5;
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t k = 0; k < 9; ++k) {
            const std::int64_t r = row + (transposed ? 1 - k / 3 : k / 3 - 1);
            const std::int64_t column = x + (transposed ? 1 - k % 3 : k % 3 - 1);
            if (r >= 0 && r < kRows) {
              const std::int64_t at = transposed ? c * filters + f : f * channels + c;
              expected += static_cast<double>(kernel[static_cast<std::size_t>(at * 9 + k)]) *
                          pixel(c, r, column);
            }
          }
        }
        const float value = result[static_cast<std::size_t>(output.offset(0, f / kBlock, row) +
                                                            x * kBlock + f % kBlock)];
        ASSERT_NEAR(value, expected, 4e-5) << "filter " << f << ", row " << row << ", column " << x;
      }
    }
  }
}

TEST(WinogradConv, agrees_with_direct_sums) {
  expect_agreement_with_direct_sums(8, 8, 64, false);
  expect_agreement_with_direct_sums(16, 16, 32, false);
  expect_agreement_with_direct_sums(19, 24, 36, false);
  expect_agreement_with_direct_sums(48, 16, 108, false);
}

TEST(WinogradConv, agrees_with_direct_sums_of_a_transposed_convolution) {
  expect_agreement_with_direct_sums(16, 16, 32, true);
  expect_agreement_with_direct_sums(21, 17, 100, true);
}

}  // namespace
}  // namespace cosmic::target::cpu
