// Winograd's F(2x2, 3x3): two rows of a 3x3 convolution with 16 multiplications where the direct
// way needs 36 (Lavin and Gray, 2015). The image is cut into tiles of 2x2 outputs that read 4x4
// inputs; input and kernel are transformed, multiplied position by position (a 1x1 convolution over
// tiles, 16 times, which conv_row does), and transformed back.
//
//   V = B' d B,  U = G g G',  y = A' (sum over channels of U * V) A
#pragma once

#include <cstdint>

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

inline constexpr std::int64_t kWinogradPositions = 16;

/// v[position][block][tile][8], positions `position_stride` floats apart, from four padded rows;
/// rows[i] points at channel 0 of the pixel left of the first tile's first output, or is null for a
/// row outside the image.
void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles);

struct WinogradOutput {
  const float* products = nullptr;  ///< [position][block][tile][8]
  std::int64_t position_stride = 0;
  std::int64_t blocks = 0;
  std::int64_t tiles = 0;
  float* rows[2] = {nullptr, nullptr};  ///< block 0, first output pixel
  std::int64_t block_stride = 0;
  const float* bias = nullptr;                   ///< [block][8]
  const float* addends[2] = {nullptr, nullptr};  ///< laid out as the rows, may be them; or null
};
void winograd_output(const WinogradOutput& output);

/// u[position * position_stride] from the nine numbers of a 3x3 kernel, row by row; read backwards
/// if `flipped`, as a transposed convolution does.
void winograd_kernel(float* u, std::int64_t position_stride, const float* kernel, bool flipped);

}  // namespace cosmic::target::cpu
