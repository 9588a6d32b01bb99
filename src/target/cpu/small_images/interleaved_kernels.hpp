// Convolution arithmetic on interleaved images ([pixel][8 images]), for every vector width
// (Highway). A vector holds a pixel of several images; a weight is broadcast to all of them.
//
// These functions know nothing of edges or threads: every pixel of a call meets the same taps.
#pragma once

#include <cstdint>

namespace cosmic::target::cpu {

/// Filters whose weights lie side by side, so that one input pixel feeds the sums of all of them.
inline constexpr std::int64_t kMostFilters = 6;

/// output[filter][pixel] = bias[filter] + addend[filter][pixel] + sum over taps and channels;
/// activated[filter][pixel] is the same, times `slope` where it is not positive.
struct InterleavedConv {
  const float* input = nullptr;  ///< what output pixel 0 reads: channel 0, first kernel row, column
  std::int64_t input_channels = 0;
  std::int64_t input_channel_stride = 0;
  std::int64_t input_row_stride = 0;
  std::int64_t input_pixel_stride = 0;  ///< floats between the inputs of neighbouring outputs
  std::int64_t kernel_rows = 0;
  std::int64_t kernel_columns = 0;
  const float* weights = nullptr;  ///< [channel][kernel row][kernel column][filters]
  std::int64_t weight_channel_stride = 0;
  std::int64_t weight_row_stride = 0;
  std::int64_t filters = 0;  ///< 1 to kMostFilters
  const float* bias = nullptr;
  const float* addend = nullptr;  ///< laid out as the output, may be the output itself; or null
  float* output = nullptr;
  float* activated =
      nullptr;  ///< laid out as the output; null, or the output itself if only wanted
  float slope = 0;
  std::int64_t output_filter_stride = 0;
  std::int64_t pixels = 0;
};
void interleaved_conv(const InterleavedConv& conv);

/// sums[filter][kernel column] += sum over rows, pixels and images of gradient * input.
struct InterleavedKernelGradient {
  const float* input = nullptr;  ///< what gradient pixel 0 meets through the first kernel column
  std::int64_t input_row_stride = 0;    ///< floats between the inputs of neighbouring rows
  std::int64_t input_pixel_stride = 0;  ///< and of neighbouring pixels
  const float* gradient = nullptr;
  std::int64_t gradient_row_stride = 0;
  std::int64_t gradient_filter_stride = 0;
  std::int64_t rows = 0;
  std::int64_t pixels = 0;
  std::int64_t filters = 0;
  std::int64_t kernel_columns = 0;
  float* sums = nullptr;
  std::int64_t sum_filter_stride = 0;
};
void interleaved_kernel_gradient(const InterleavedKernelGradient& gradient);

}  // namespace cosmic::target::cpu
