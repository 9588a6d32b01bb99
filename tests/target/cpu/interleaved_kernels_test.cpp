// Convolutions of interleaved images against plain loops in double, on every instruction set this
// machine has.
#include "target/cpu/small_images/interleaved_kernels.hpp"

#include <gtest/gtest.h>

#include "target/cpu/kernel_rows.hpp"

namespace cosmic::target::cpu {
namespace {

struct Case {
  std::int64_t filters;
  std::int64_t channels;
  std::int64_t kernel_rows;
  std::int64_t kernel_columns;
  std::int64_t pixels;
  std::int64_t stride;
};

// Around every number of filters, kernel columns and pixels of a tile.
constexpr Case kCases[] = {{1, 1, 1, 1, 1, 1}, {2, 3, 2, 2, 2, 1}, {3, 1, 3, 3, 3, 1},
                           {4, 2, 1, 4, 4, 1}, {5, 1, 3, 3, 7, 1}, {6, 5, 5, 5, 9, 1},
                           {6, 2, 3, 6, 5, 1}, {5, 2, 3, 3, 4, 2}, {3, 1, 2, 11, 6, 3}};

TEST(InterleavedConv, agrees_with_plain_loops) {
  on_every_target([] {
    for (const Case& c : kCases) {
      const std::int64_t width = (c.pixels - 1) * c.stride + c.kernel_columns;
      const Row input = grid_row(c.channels * c.kernel_rows * width * kBlock, 1);
      const Row weights = grid_row(c.channels * c.kernel_rows * c.kernel_columns * c.filters, 2);
      const Row bias = grid_row(c.filters, 3);
      const Row addend = grid_row(c.filters * c.pixels * kBlock, 4);
      Row output(c.filters * c.pixels * kBlock);
      Row activated(c.filters * c.pixels * kBlock);
      constexpr float kSlope = 0.5F;
      interleaved_conv({.input = input.data(),
                        .input_channels = c.channels,
                        .input_channel_stride = c.kernel_rows * width * kBlock,
                        .input_row_stride = width * kBlock,
                        .input_pixel_stride = c.stride * kBlock,
                        .kernel_rows = c.kernel_rows,
                        .kernel_columns = c.kernel_columns,
                        .weights = weights.data(),
                        .weight_channel_stride = c.kernel_rows * c.kernel_columns * c.filters,
                        .weight_row_stride = c.kernel_columns * c.filters,
                        .filters = c.filters,
                        .bias = bias.data(),
                        .addend = addend.data(),
                        .output = output.data(),
                        .activated = activated.data(),
                        .slope = kSlope,
                        .output_filter_stride = c.pixels * kBlock,
                        .pixels = c.pixels});
      for (std::int64_t i = 0; i < c.filters * c.pixels * kBlock; ++i) {
        const std::int64_t filter = i / (c.pixels * kBlock);
        const std::int64_t pixel = i / kBlock % c.pixels;
        double want = double{bias[filter]} + double{addend[i]};
        for (std::int64_t tap = 0; tap < c.channels * c.kernel_rows * c.kernel_columns; ++tap) {
          const std::int64_t row = tap / c.kernel_columns;  // of all channels
          const std::int64_t x = pixel * c.stride + tap % c.kernel_columns;
          want += double{weights[tap * c.filters + filter]} *
                  double{input[(row * width + x) * kBlock + i % kBlock]};
        }
        expect_close(double{output[i]}, want);
        expect_close(double{activated[i]}, want > 0 ? want : kSlope * want);
      }
    }
  });
}

TEST(InterleavedKernelGradient, agrees_with_plain_loops_and_adds) {
  on_every_target([] {
    for (const Case& c : kCases) {
      const std::int64_t rows = c.kernel_rows;  // of the gradient; the kernel's do not matter here
      const std::int64_t width = (c.pixels - 1) * c.stride + c.kernel_columns;
      const Row input = grid_row(rows * width * kBlock, 1);
      const Row gradient = grid_row(c.filters * rows * c.pixels * kBlock, 2);
      Row sums(c.filters * c.kernel_columns, 0.5F);
      interleaved_kernel_gradient({.input = input.data(),
                                   .input_row_stride = width * kBlock,
                                   .input_pixel_stride = c.stride * kBlock,
                                   .gradient = gradient.data(),
                                   .gradient_row_stride = c.pixels * kBlock,
                                   .gradient_filter_stride = rows * c.pixels * kBlock,
                                   .rows = rows,
                                   .pixels = c.pixels,
                                   .filters = c.filters,
                                   .kernel_columns = c.kernel_columns,
                                   .sums = sums.data(),
                                   .sum_filter_stride = c.kernel_columns});
      for (std::int64_t filter = 0; filter < c.filters; ++filter) {
        for (std::int64_t k = 0; k < c.kernel_columns; ++k) {
          double want = 0.5;
          for (std::int64_t i = 0; i < rows * c.pixels * kBlock; ++i) {
            const std::int64_t row = i / (c.pixels * kBlock);
            const std::int64_t x = i / kBlock % c.pixels * c.stride + k;
            want += double{gradient[filter * rows * c.pixels * kBlock + i]} *
                    double{input[(row * width + x) * kBlock + i % kBlock]};
          }
          expect_close(double{sums[filter * c.kernel_columns + k]}, want);
        }
      }
    }
  });
}

}  // namespace
}  // namespace cosmic::target::cpu
