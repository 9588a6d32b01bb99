#include "target/cpu/winograd_kernel_gradient.hpp"

#include <algorithm>

#include "target/cpu/winograd_tiles.hpp"

namespace cosmic::target::cpu {
namespace {

graph::FeatureMap positions_of(graph::FeatureMap kernel) {
  kernel.rows = kWinogradWindow;
  kernel.columns = kWinogradWindow;
  return kernel;
}

}  // namespace

WinogradKernelGradient::WinogradKernelGradient(const graph::FeatureMap& kernel,
                                               std::int64_t columns, int threads)
    : channels_(kernel.channels),
      input_blocks_((kernel.channels + kBlock - 1) / kBlock),
      tiles_(columns / kWinogradTile),
      tiles_together_(0),
      sums_(positions_of(kernel), threads),
      kernel_sums_(kernel, 1) {
  tiles_together_ = winograd_run(tiles_, input_blocks_ + sums_.blocks());
}

std::int64_t WinogradKernelGradient::scratch_floats() const {
  return kWinogradPositions * (winograd_position_stride(input_blocks_, tiles_together_) +
                               winograd_position_stride(sums_.blocks(), tiles_together_));
}

void WinogradKernelGradient::add(int thread, const Rows& rows, float* scratch) {
  for (std::int64_t first = 0; first < tiles_; first += tiles_together_) {
    const std::int64_t tiles = std::min(tiles_together_, tiles_ - first);
    const std::int64_t pixel = kWinogradTile * first * kBlock;
    const std::int64_t input_stride = winograd_position_stride(input_blocks_, tiles);
    const std::int64_t gradient_stride = winograd_position_stride(sums_.blocks(), tiles);
    float* const input = scratch;
    float* const gradient = scratch + kWinogradPositions * input_stride;
    const float* input_rows[kWinogradWindow];
    for (int i = 0; i < kWinogradWindow; ++i) {
      input_rows[i] = rows.input[i] == nullptr ? nullptr : rows.input[i] + pixel - kBlock;
    }
    const float* gradient_rows[kWinogradTile];
    for (int i = 0; i < kWinogradTile; ++i) {
      gradient_rows[i] = rows.gradient[i] + pixel;
    }
    winograd_input(input, input_stride, input_rows, rows.input_block_stride, input_blocks_, tiles);
    winograd_gradient(gradient, gradient_stride, gradient_rows, rows.gradient_block_stride,
                      sums_.blocks(), tiles);
    for (std::int64_t k = 0; k < kWinogradPositions; ++k) {
      const float* const input_tiles = input + k * input_stride;
      const float* const gradient_tiles = gradient + k * gradient_stride;
      accumulate_kernel_gradient({.rows = 1,
                                  .input_rows = &input_tiles,
                                  .input_channels = channels_,
                                  .input_block_stride = tiles * kBlock,
                                  .gradient_rows = &gradient_tiles,
                                  .gradient_block_stride = tiles * kBlock,
                                  .output_blocks = sums_.blocks(),
                                  .width = tiles,
                                  .kernel_gradient = sums_.copy(thread) + k * channels_ * kBlock,
                                  .kernel_block_stride = sums_.block_stride()});
    }
  }
}

void WinogradKernelGradient::finish(const Team& team, float* result) {
  team.run([&](int thread) {
    const Range blocks = slice_of(sums_.blocks(), thread, team.size());
    sums_.gather(blocks);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      winograd_kernel_gradient(kernel_sums_.copy(0) + block * kernel_sums_.block_stride(),
                               sums_.copy(0) + block * sums_.block_stride(), channels_ * kBlock);
    }
    kernel_sums_.unpack(blocks, result);
  });
}

}  // namespace cosmic::target::cpu
