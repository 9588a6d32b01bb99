// Winograd's F(4x4, 3x3): four rows of a 3x3 convolution with 36 multiplications where the direct
// way needs 144 (Lavin and Gray, 2015). The image is cut into tiles of 4x4 outputs that read 6x6
// inputs; input and kernel are transformed, multiplied position by position (a 1x1 convolution over
// tiles, 36 times, which conv_row does), and transformed back.
//
//   V = B' d B,  U = G g G',  y = A' (sum over channels of U * V) A
//
// The gradient of the kernel is the same algorithm read backwards, with the same V:
//
//   Z = A dy A',  dg = G' (sum over tiles of Z * V) G
//
// The transforms evaluate polynomials at 0, infinity, +-1/sqrt(2) and +-sqrt(2). With the usual
// points (+-1 and +-2) rounding errors are three times those of direct sums; the powers of these
// points lie closer to 1, and the errors are twice those of direct sums.
#pragma once

#include <cstdint>

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

inline constexpr std::int64_t kWinogradTile = 4;    ///< rows and columns of outputs
inline constexpr std::int64_t kWinogradWindow = 6;  ///< rows and columns of inputs
inline constexpr std::int64_t kWinogradPositions = kWinogradWindow * kWinogradWindow;

/// v[position][block][tile][8], positions `position_stride` floats apart, from six padded rows;
/// rows[i] points at channel 0 of the pixel left of the first tile's first output, or is null for a
/// row outside the image.
void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles);

/// z[position][block][tile][8] from four rows of dy; rows[i] points at channel 0 of the first
/// tile's first pixel.
void winograd_gradient(float* z, std::int64_t position_stride, const float* const* rows,
                       std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles);

struct WinogradOutput {
  const float* products = nullptr;  ///< [position][block][tile][8]
  std::int64_t position_stride = 0;
  std::int64_t blocks = 0;
  std::int64_t tiles = 0;
  float* rows[kWinogradTile] = {};  ///< block 0, first output pixel
  std::int64_t block_stride = 0;
  /// [tile], bit 4 * row + column: outputs that are 0 before bias and addend, whatever the products
  /// say.
  const std::uint16_t* zeros = nullptr;
  const float* bias = nullptr;               ///< [block][8]
  const float* addends[kWinogradTile] = {};  ///< laid out as the rows, may be them; or null
};
void winograd_output(const WinogradOutput& output);

/// u[position * position_stride] from the nine numbers of a 3x3 kernel, row by row; read backwards
/// if `flipped`, as a transposed convolution does.
void winograd_kernel(float* u, std::int64_t position_stride, const float* kernel, bool flipped);

/// kernel_gradient[9][count] from sums[36][count], for `count` pairs of filter and channel.
void winograd_kernel_gradient(float* kernel_gradient, const float* sums, std::int64_t count);

}  // namespace cosmic::target::cpu
