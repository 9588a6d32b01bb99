// Every shape is checked against naive loops in double precision. Buffers are exactly as large as
// the interface allows the kernels to touch: outputs stand between guard values, and lanes that
// must not be read hold NaN, which would poison every sum. Every test runs once for each set of
// vector instructions this machine has.
#include "target/cpu/kernels/conv_kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cosmic::target::cpu {
namespace {

using std::int64_t;

constexpr float kGuard = 12345.0F;
constexpr float kUnreadable = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kGuardFloats = 64;

int64_t blocks_of(int64_t channels) {
  return (channels + kBlock - 1) / kBlock;
}

class Random {
 public:
  float operator()() { return distribution_(engine_); }
  std::vector<float> floats(int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      value = (*this)();
    }
    return values;
  }

 private:
  std::mt19937 engine_{7};
  std::uniform_real_distribution<float> distribution_{-1.0F, 1.0F};
};

// Floats between two guard zones.
class Guarded {
 public:
  explicit Guarded(int64_t count)
      : values_(static_cast<std::size_t>(count + 2 * kGuardFloats), kGuard) {}
  float* data() { return values_.data() + kGuardFloats; }
  int64_t size() const { return static_cast<int64_t>(values_.size()) - 2 * kGuardFloats; }
  bool guards_intact() const {
    for (int64_t i = 0; i < kGuardFloats; ++i) {
      if (values_[static_cast<std::size_t>(i)] != kGuard ||
          values_[values_.size() - 1 - static_cast<std::size_t>(i)] != kGuard) {
        return false;
      }
    }
    return true;
  }

 private:
  std::vector<float> values_;
};

// A padded row of input, [block][pixel][8] or, for one plain channel, [pixel].
struct InputRow {
  std::vector<float> values;
  int64_t pixels = 0;
  int64_t pixel_floats = kBlock;

  const float* pixel(int64_t x) const { return values.data() + x * pixel_floats; }
  int64_t block_stride() const { return pixels * pixel_floats; }
  double at(int64_t channel, int64_t x) const {
    return static_cast<double>(values.at(static_cast<std::size_t>(
        channel / kBlock * block_stride() + x * pixel_floats + channel % kBlock)));
  }
};

class OnEveryTarget : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::string target_name(const testing::TestParamInfo<int64_t>& target) {
  return hwy::TargetName(target.param);
}

enum class Layout { blocked, plain };

InputRow random_row(Random& random, int64_t channels, int64_t pixels, Layout layout) {
  InputRow row;
  row.pixels = pixels;
  if (layout == Layout::plain) {
    row.pixel_floats = 1;
    row.values = random.floats(pixels);
    return row;
  }
  row.values = random.floats(blocks_of(channels) * pixels * kBlock);
  for (int64_t c = channels; c < blocks_of(channels) * kBlock; ++c) {
    for (int64_t x = 0; x < pixels; ++x) {
      row.values[static_cast<std::size_t>(c / kBlock * row.block_stride() + x * kBlock +
                                          c % kBlock)] = kUnreadable;
    }
  }
  return row;
}

class ConvRowKernel : public OnEveryTarget {};
class KernelGradientKernel : public OnEveryTarget {};
INSTANTIATE_TEST_SUITE_P(Targets, ConvRowKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);
INSTANTIATE_TEST_SUITE_P(Targets, KernelGradientKernel,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), target_name);

enum class Addend { none, separate, output };

struct ConvCase {
  int64_t input_channels = 8;
  int64_t output_blocks = 1;
  int64_t kernel_rows = 3;
  int64_t kernel_columns = 3;
  int64_t width = 16;
  int64_t stride = 1;         ///< input pixels between neighbouring outputs
  int64_t output_stride = 1;  ///< pixels between neighbouring outputs
  bool bias = true;
  Addend addend = Addend::none;
  Layout layout = Layout::blocked;
};

std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
  return out << c.input_channels << " channels to " << c.output_blocks << " blocks, "
             << c.kernel_rows << "x" << c.kernel_columns << ", width " << c.width << ", stride "
             << c.stride << ", output stride " << c.output_stride;
}

void expect_conv_agrees(const ConvCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  Random random;
  std::vector<InputRow> rows;
  for (int64_t k = 0; k < c.kernel_rows; ++k) {
    rows.push_back(random_row(random, c.input_channels, (c.width - 1) * c.stride + c.kernel_columns,
                              c.layout));
  }
  const int64_t tap_count = c.kernel_rows * c.kernel_columns;
  const int64_t weight_block = tap_count * c.input_channels * kBlock;
  const std::vector<float> weights = random.floats(c.output_blocks * weight_block);
  const std::vector<float> bias = random.floats(c.output_blocks * kBlock);
  std::vector<Tap> taps;
  for (int64_t t = 0; t < tap_count; ++t) {
    taps.push_back(
        {rows[static_cast<std::size_t>(t / c.kernel_columns)].pixel(t % c.kernel_columns),
         weights.data() + t * c.input_channels * kBlock});
  }

  // A block ends with its last pixel, so a strided output has no room after it.
  const int64_t output_block = ((c.width - 1) * c.output_stride + 1) * kBlock;
  Guarded output(c.output_blocks * output_block);
  const std::vector<float> addend = random.floats(output.size());
  if (c.addend == Addend::output) {
    std::copy(addend.begin(), addend.end(), output.data());
  }
  ConvRow row;
  row.taps = taps.data();
  row.tap_count = tap_count;
  row.input_channels = c.input_channels;
  row.input_block_stride = rows.front().block_stride();
  row.input_pixel_stride = c.stride * rows.front().pixel_floats;
  row.weight_block_stride = weight_block;
  row.output_blocks = c.output_blocks;
  row.width = c.width;
  row.output = output.data();
  row.output_block_stride = output_block;
  row.output_pixel_stride = c.output_stride * kBlock;
  row.bias = c.bias ? bias.data() : nullptr;
  row.addend = c.addend == Addend::none       ? nullptr
               : c.addend == Addend::separate ? addend.data()
                                              : output.data();
  conv_row(row);

  EXPECT_TRUE(output.guards_intact());
  for (int64_t i = 0; i < output.size(); ++i) {
    const int64_t block = i / output_block;
    const int64_t place = i % output_block / kBlock;
    const int64_t lane = i % kBlock;
    const auto index = static_cast<std::size_t>(i);
    if (place % c.output_stride != 0) {
      const float untouched = c.addend == Addend::output ? addend[index] : kGuard;
      ASSERT_EQ(output.data()[i], untouched) << "between strided pixels, at float " << i;
      continue;
    }
    const int64_t x = place / c.output_stride;
    double expected = c.bias ? bias[static_cast<std::size_t>(block * kBlock + lane)] : 0.0;
    expected += c.addend == Addend::none ? 0.0 : addend[index];
    for (int64_t t = 0; t < tap_count; ++t) {
      for (int64_t channel = 0; channel < c.input_channels; ++channel) {
        expected += rows[static_cast<std::size_t>(t / c.kernel_columns)].at(
                        channel, x * c.stride + t % c.kernel_columns) *
                    weights[static_cast<std::size_t>(
                        block * weight_block + (t * c.input_channels + channel) * kBlock + lane)];
      }
    }
    const double terms = static_cast<double>(tap_count * c.input_channels) + 2.0;
    ASSERT_NEAR(output.data()[i], expected, 1e-6 * terms)
        << "block " << block << ", pixel " << x << ", lane " << lane;
  }
}

TEST_P(ConvRowKernel, agrees_with_naive_loops_for_odd_channels_and_widths) {
  for (const int64_t channels : {1, 3, 7, 8, 9, 15, 16, 24, 29}) {
    for (const int64_t blocks : {1, 2, 3, 4, 5}) {
      for (const int64_t width : {1, 2, 3, 5, 7, 11, 23, 24, 25, 47}) {
        expect_conv_agrees({.input_channels = channels, .output_blocks = blocks, .width = width});
      }
    }
  }
}

TEST_P(ConvRowKernel, agrees_with_naive_loops_for_the_widths_of_the_network) {
  for (const int64_t width : {16, 32, 64, 128, 256, 512, 1024}) {
    for (const int64_t blocks : {1, 2, 3}) {
      expect_conv_agrees({.output_blocks = blocks, .width = width});
    }
  }
}

TEST_P(ConvRowKernel, agrees_with_naive_loops_for_many_channels) {
  expect_conv_agrees({.input_channels = 168, .output_blocks = 7});
  expect_conv_agrees({.input_channels = 256,
                      .output_blocks = 32,
                      .kernel_rows = 5,
                      .kernel_columns = 5,
                      .width = 16});
}

TEST_P(ConvRowKernel, agrees_with_naive_loops_for_kernels_of_any_shape) {
  for (const auto& [kernel_rows, kernel_columns] :
       {std::pair{1, 1}, {1, 2}, {2, 2}, {5, 5}, {1, 3}, {4, 1}}) {
    for (const int64_t blocks : {1, 2, 3}) {
      expect_conv_agrees({.input_channels = 16,
                          .output_blocks = blocks,
                          .kernel_rows = kernel_rows,
                          .kernel_columns = kernel_columns,
                          .width = 29});
    }
  }
}

TEST_P(ConvRowKernel, skips_input_pixels_when_strided) {
  for (const int64_t stride : {2, 3, 5}) {
    for (const int64_t blocks : {1, 2, 3}) {
      for (const int64_t width : {1, 6, 27, 64}) {
        expect_conv_agrees({.input_channels = 11,
                            .output_blocks = blocks,
                            .kernel_rows = 2,
                            .kernel_columns = 2,
                            .width = width,
                            .stride = stride});
      }
    }
  }
}

TEST_P(ConvRowKernel, leaves_the_pixels_between_strided_outputs_alone) {
  for (const int64_t output_stride : {2, 3}) {
    for (const Addend addend : {Addend::none, Addend::separate, Addend::output}) {
      for (const int64_t blocks : {1, 2, 3}) {
        expect_conv_agrees({.input_channels = 12,
                            .output_blocks = blocks,
                            .kernel_rows = 1,
                            .kernel_columns = 1,
                            .width = 37,
                            .output_stride = output_stride,
                            .addend = addend});
      }
    }
  }
}

TEST_P(ConvRowKernel, adds_bias_and_addend_even_where_the_addend_is_the_output) {
  for (const bool bias : {false, true}) {
    for (const Addend addend : {Addend::none, Addend::separate, Addend::output}) {
      for (const int64_t blocks : {1, 2, 3, 4}) {
        expect_conv_agrees({.input_channels = 16,
                            .output_blocks = blocks,
                            .width = 45,
                            .bias = bias,
                            .addend = addend});
      }
    }
  }
}

TEST_P(ConvRowKernel, reads_a_single_plain_channel) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t blocks : {1, 2, 3}) {
      for (const int64_t width : {1, 9, 31, 1024}) {
        expect_conv_agrees({.input_channels = 1,
                            .output_blocks = blocks,
                            .kernel_rows = 5,
                            .kernel_columns = 5,
                            .width = width,
                            .stride = stride,
                            .layout = Layout::plain});
      }
    }
  }
}

TEST_P(ConvRowKernel, is_bias_alone_without_taps) {
  const std::vector<float> bias(kBlock, 2.0F);
  Guarded output(3 * kBlock);
  ConvRow row;
  row.output_blocks = 1;
  row.width = 3;
  row.output = output.data();
  row.bias = bias.data();
  conv_row(row);
  EXPECT_TRUE(output.guards_intact());
  for (int64_t i = 0; i < output.size(); ++i) {
    EXPECT_EQ(output.data()[i], 2.0F);
  }
}

struct GradientCase {
  int64_t input_channels = 8;
  int64_t output_blocks = 1;
  int64_t kernel_rows = 3;
  int64_t kernel_columns = 3;
  int64_t width = 16;
  int64_t rows = 4;
  int64_t row_stride = 1;
  int64_t stride = 1;           ///< input pixels between neighbouring outputs
  int64_t gradient_stride = 1;  ///< pixels between neighbouring gradients
  int64_t absent_rows = 1;      ///< input rows missing at the top and at the bottom
  Layout layout = Layout::blocked;
};

std::ostream& operator<<(std::ostream& out, const GradientCase& c) {
  return out << c.input_channels << " channels, " << c.output_blocks << " blocks, " << c.kernel_rows
             << "x" << c.kernel_columns << ", width " << c.width << ", " << c.rows
             << " rows, row stride " << c.row_stride << ", stride " << c.stride
             << ", gradient stride " << c.gradient_stride;
}

void expect_gradient_agrees(const GradientCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  Random random;
  const int64_t input_count = (c.rows - 1) * c.row_stride + c.kernel_rows;
  const int64_t input_width = (c.width - 1) * c.stride + c.kernel_columns;
  std::vector<InputRow> inputs;
  std::vector<const float*> input_rows;
  for (int64_t r = 0; r < input_count; ++r) {
    inputs.push_back(random_row(random, c.input_channels, input_width, c.layout));
    const bool absent = r < c.absent_rows || r >= input_count - c.absent_rows;
    input_rows.push_back(absent ? nullptr : inputs.back().values.data());
  }
  const int64_t gradient_block = ((c.width - 1) * c.gradient_stride + 1) * kBlock;
  std::vector<std::vector<float>> gradients;
  std::vector<const float*> gradient_rows;
  for (int64_t r = 0; r < c.rows; ++r) {
    gradients.push_back(random.floats(c.output_blocks * gradient_block));
    gradient_rows.push_back(gradients.back().data());
  }

  const int64_t kernel_block = c.kernel_rows * c.kernel_columns * c.input_channels * kBlock;
  const std::vector<float> before = random.floats(c.output_blocks * kernel_block);
  Guarded kernel_gradient(c.output_blocks * kernel_block);
  std::copy(before.begin(), before.end(), kernel_gradient.data());

  KernelGradientRows rows;
  rows.rows = c.rows;
  rows.row_stride = c.row_stride;
  rows.kernel_rows = c.kernel_rows;
  rows.kernel_columns = c.kernel_columns;
  rows.input_rows = input_rows.data();
  rows.input_channels = c.input_channels;
  rows.input_block_stride = inputs.front().block_stride();
  rows.input_pixel_stride = c.stride * inputs.front().pixel_floats;
  rows.input_column_stride = inputs.front().pixel_floats;
  rows.gradient_rows = gradient_rows.data();
  rows.gradient_block_stride = gradient_block;
  rows.gradient_pixel_stride = c.gradient_stride * kBlock;
  rows.output_blocks = c.output_blocks;
  rows.width = c.width;
  rows.kernel_gradient = kernel_gradient.data();
  rows.kernel_block_stride = kernel_block;
  accumulate_kernel_gradient(rows);

  EXPECT_TRUE(kernel_gradient.guards_intact());
  for (int64_t i = 0; i < kernel_gradient.size(); ++i) {
    const int64_t block = i / kernel_block;
    const int64_t lane = i % kBlock;
    const int64_t channel = i % kernel_block / kBlock % c.input_channels;
    const int64_t tap = i % kernel_block / kBlock / c.input_channels;
    const int64_t k = tap / c.kernel_columns;
    const int64_t column = tap % c.kernel_columns;
    double expected = before[static_cast<std::size_t>(i)];
    for (int64_t r = 0; r < c.rows; ++r) {
      const auto input_row = static_cast<std::size_t>(r * c.row_stride + k);
      if (input_rows[input_row] == nullptr) {
        continue;
      }
      for (int64_t x = 0; x < c.width; ++x) {
        expected += inputs[input_row].at(channel, x * c.stride + column) *
                    gradient_rows[static_cast<std::size_t>(r)]
                                 [block * gradient_block + x * c.gradient_stride * kBlock + lane];
      }
    }
    const double terms = static_cast<double>(c.rows * c.width) + 1.0;
    ASSERT_NEAR(kernel_gradient.data()[i], expected, 1e-6 * terms + 1e-5)
        << "block " << block << ", kernel row " << k << ", column " << column << ", channel "
        << channel << ", lane " << lane;
  }
}

TEST_P(KernelGradientKernel, agrees_with_naive_loops_for_odd_channels_and_widths) {
  for (const int64_t channels : {1, 2, 5, 7, 8, 9, 16, 23, 31, 40}) {
    for (const int64_t blocks : {1, 2, 3}) {
      for (const int64_t width : {1, 2, 7, 16, 33}) {
        expect_gradient_agrees(
            {.input_channels = channels, .output_blocks = blocks, .width = width});
      }
    }
  }
}

TEST_P(KernelGradientKernel, agrees_with_naive_loops_for_kernels_of_any_shape) {
  for (const int64_t kernel_rows : {1, 2, 3, 5}) {
    for (const int64_t kernel_columns : {1, 2, 3, 4, 5, 6, 7}) {
      for (const int64_t channels : {4, 8, 27, 32, 48}) {
        expect_gradient_agrees({.input_channels = channels,
                                .output_blocks = 2,
                                .kernel_rows = kernel_rows,
                                .kernel_columns = kernel_columns,
                                .width = 19});
      }
    }
  }
}

TEST_P(KernelGradientKernel, agrees_with_naive_loops_for_many_channels) {
  expect_gradient_agrees({.input_channels = 168,
                          .output_blocks = 4,
                          .kernel_rows = 5,
                          .kernel_columns = 5,
                          .width = 16,
                          .rows = 10});
}

TEST_P(KernelGradientKernel, sums_over_many_rows_of_any_width) {
  for (const int64_t width : {1, 13, 64, 256, 600, 1024}) {
    expect_gradient_agrees({.width = width, .rows = 17});
  }
}

TEST_P(KernelGradientKernel, takes_rows_and_pixels_apart_when_strided) {
  for (const int64_t stride : {2, 3}) {
    for (const int64_t channels : {8, 13, 24}) {
      expect_gradient_agrees({.input_channels = channels,
                              .output_blocks = 2,
                              .kernel_rows = 2,
                              .kernel_columns = 2,
                              .width = 21,
                              .row_stride = stride,
                              .stride = stride});
    }
  }
}

TEST_P(KernelGradientKernel, reads_a_strided_gradient) {
  for (const int64_t columns : {1, 2, 3}) {
    expect_gradient_agrees({.input_channels = 16,
                            .kernel_rows = 1,
                            .kernel_columns = columns,
                            .gradient_stride = 2,
                            .absent_rows = 0});
  }
}

TEST_P(KernelGradientKernel, reads_a_single_plain_channel) {
  for (const int64_t columns : {1, 2, 3, 4, 5, 6, 11}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t width : {1, 3, 4, 6, 27, 1024}) {
        expect_gradient_agrees({.input_channels = 1,
                                .output_blocks = 2,
                                .kernel_rows = 5,
                                .kernel_columns = columns,
                                .width = width,
                                .stride = stride,
                                .absent_rows = 2,
                                .layout = Layout::plain});
      }
    }
  }
}

TEST_P(KernelGradientKernel, is_unchanged_when_every_input_row_is_absent) {
  expect_gradient_agrees({.rows = 2, .absent_rows = 4});
}

}  // namespace
}  // namespace cosmic::target::cpu
