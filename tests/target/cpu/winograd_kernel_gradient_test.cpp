#include "target/cpu/winograd_kernel_gradient.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"

namespace cosmic::target::cpu {
namespace {

constexpr std::int64_t kRows = 8;

/// Rows of random numbers in blocks of eight channels, with a zero pixel on either side.
class PaddedRows {
 public:
  PaddedRows(std::int64_t channels, std::int64_t columns, RandomStream& random)
      : channels_(channels),
        columns_(columns),
        values_(static_cast<std::size_t>((channels + kBlock - 1) / kBlock * block_stride())) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        for (std::int64_t x = 0; x < columns; ++x) {
          values_[at(c, row, x)] = static_cast<float>(random.uniform(-1, 1));
        }
      }
    }
  }

  std::int64_t block_stride() const { return kRows * (columns_ + 2) * kBlock; }
  const float* row(std::int64_t index) const { return values_.data() + at(0, index, 0); }
  /// Zero outside the image.
  double value(std::int64_t c, std::int64_t row, std::int64_t x) const {
    return row < 0 || row >= kRows ? 0 : static_cast<double>(values_[at(c, row, x)]);
  }

 private:
  std::size_t at(std::int64_t c, std::int64_t row, std::int64_t x) const {
    return static_cast<std::size_t>(c / kBlock * block_stride() +
                                    (row * (columns_ + 2) + x + 1) * kBlock + c % kBlock);
  }

  std::int64_t channels_;
  std::int64_t columns_;
  std::vector<float> values_;
};

/// Two rows of tiles, each added by another thread's copy of the sums.
void expect_agreement_with_direct_sums(std::int64_t channels, std::int64_t filters,
                                       std::int64_t columns) {
  RandomStream random(5, "winograd gradient");
  const PaddedRows image(channels, columns, random);
  const PaddedRows dy(filters, columns, random);
  WinogradKernelGradient gradient({filters, channels, 1, 3, 3}, columns, 2);
  std::vector<float> scratch(static_cast<std::size_t>(gradient.scratch_floats()));
  for (int thread = 0; thread < 2; ++thread) {
    gradient.clear(thread);
    WinogradKernelGradient::Rows rows;
    const std::int64_t first = thread * kWinogradTile;
    for (std::int64_t i = 0; i < kWinogradWindow; ++i) {
      const std::int64_t row = first - 1 + i;
      rows.input[i] = row < 0 || row >= kRows ? nullptr : image.row(row);
    }
    for (std::int64_t i = 0; i < kWinogradTile; ++i) {
      rows.gradient[i] = dy.row(first + i);
    }
    rows.input_block_stride = image.block_stride();
    rows.gradient_block_stride = dy.block_stride();
    gradient.add(thread, rows, scratch.data());
  }
  std::vector<float> result(static_cast<std::size_t>(filters * channels * 9), -7.0F);
  gradient.finish(Team(2, 0), result.data());
  for (std::int64_t f = 0; f < filters; ++f) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t k = 0; k < 9; ++k) {
        double expected = 0;
        for (std::int64_t row = 0; row < kRows; ++row) {
          for (std::int64_t x = 0; x < columns; ++x) {
            expected += dy.value(f, row, x) * image.value(c, row + k / 3 - 1, x + k % 3 - 1);
          }
        }
        ASSERT_NEAR(result[static_cast<std::size_t>((f * channels + c) * 9 + k)], expected, 1e-4)
            << "filter " << f << ", channel " << c << ", position " << k;
      }
    }
  }
}

TEST(WinogradKernelGradient, agrees_with_direct_sums) {
  expect_agreement_with_direct_sums(16, 16, 32);
  expect_agreement_with_direct_sums(48, 24, 200);
}

TEST(WinogradKernelGradient, agrees_with_direct_sums_when_channels_do_not_fill_a_block) {
  expect_agreement_with_direct_sums(19, 21, 36);
}

}  // namespace
}  // namespace cosmic::target::cpu
