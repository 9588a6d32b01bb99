// Convolution arithmetic on rows of pixels, for every vector width (Highway).
//
// A feature map is stored as [image][channel block][row][column][8]: eight channels of one pixel
// lie side by side, so one vector holds eight output channels and one scalar of the input feeds all
// of them. Eight, not the widest vector of the machine, because the channel counts of this network
// family are multiples of eight and rarely of sixteen; padded lanes would be wasted arithmetic.
//
// These functions know nothing of images, padding or threads. The caller hands them rows that are
// already padded and decides which rows and output blocks one thread computes.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

inline constexpr std::int64_t kBlock = 8;  ///< channels side by side in memory

/// One position of the convolution kernel, seen from one output row.
struct Tap {
  const float* input;    ///< channel 0 of the pixel that output pixel 0 reads through this tap
  const float* weights;  ///< [input channel][8] for output block 0
};

/// out[block][pixel] = bias[block] + addend[block][pixel] + sum over taps and input channels.
struct ConvRow {
  const Tap* taps = nullptr;
  std::int64_t tap_count = 0;
  std::int64_t input_channels = 0;      ///< real channels; padded lanes are never read
  std::int64_t input_block_stride = 0;  ///< floats from a channel block to the next, same pixel
  std::int64_t input_pixel_stride = kBlock;  ///< floats between the inputs of neighbouring outputs
  std::int64_t weight_block_stride = 0;      ///< floats from an output block's weights to the next
  std::int64_t output_blocks = 0;
  std::int64_t width = 0;  ///< output pixels
  float* output = nullptr;
  std::int64_t output_block_stride = 0;
  std::int64_t output_pixel_stride = kBlock;
  const float* bias = nullptr;    ///< [output block][8], or null
  const float* addend = nullptr;  ///< laid out as the output, may be the output itself; or null
};
void conv_row(const ConvRow& row);

/// kernel_gradient[block][kernel row][kernel column][input channel][8] +=
///     sum over rows and pixels of gradient[block] * input[channel], the input shifted by the tap.
struct KernelGradientRows {
  std::int64_t rows = 0;        ///< output rows in this call
  std::int64_t row_stride = 1;  ///< input rows between neighbouring output rows
  std::int64_t kernel_rows = 1;
  std::int64_t kernel_columns = 1;
  /// Row r meets kernel row k in input_rows[r * row_stride + k]: channel 0 of the pixel that output
  /// pixel 0 reads through kernel column 0. Null where the row lies outside the image (all zero).
  const float* const* input_rows = nullptr;
  std::int64_t input_channels = 0;
  std::int64_t input_block_stride = 0;
  std::int64_t input_pixel_stride = kBlock;     ///< between the inputs of neighbouring outputs
  std::int64_t input_column_stride = kBlock;    ///< between neighbouring kernel columns
  const float* const* gradient_rows = nullptr;  ///< [rows], output block 0, pixel 0
  std::int64_t gradient_block_stride = 0;
  std::int64_t gradient_pixel_stride = kBlock;
  std::int64_t output_blocks = 0;
  std::int64_t width = 0;
  float* kernel_gradient = nullptr;
  std::int64_t kernel_block_stride = 0;  ///< floats from an output block to the next
};
void accumulate_kernel_gradient(const KernelGradientRows& rows);

}  // namespace cosmic::target::cpu
