// Convolution and its two adjoints, in two and three dimensions (two are three with a depth of 1).
// Straightforward: a thread has one pixel of a few filters, and what it reads comes through the
// cache. Products are added up in float32 in two levels, so that long sums keep their digits.
#pragma once

#include "target/cuda/kernels/device_code.hpp"

namespace cosmic::target::cuda {

/// Filters that a thread computes, so that it reads a pixel once for all of them.
inline constexpr int kFiltersPerThread = 4;
/// Channels whose products are added up before they enter the whole sum.
inline constexpr int kChannelsPerSum = 16;

struct Extent3 {
  int depth;
  int rows;
  int columns;

  COSMIC_DEVICE std::int64_t pixels() const {
    return static_cast<std::int64_t>(depth) * rows * columns;
  }
  COSMIC_DEVICE std::int64_t element(int d, int r, int c) const {
    return (static_cast<std::int64_t>(d) * rows + r) * columns + c;
  }
};

struct Place3 {
  int depth;
  int row;
  int column;
};

COSMIC_DEVICE inline Place3 place_of(std::int64_t pixel, const Extent3& extent) {
  const Division in_row = divide(pixel, extent.columns);
  const Division in_slice = divide(in_row.whole, extent.rows);
  return {static_cast<int>(in_slice.whole), static_cast<int>(in_slice.rest),
          static_cast<int>(in_row.rest)};
}

/// What the three convolutions are told. The "image" is the larger side, the "result" the smaller
/// one, whichever of them is computed.
struct ConvShape {
  Extent3 image;
  Extent3 result;
  Extent3 kernel;
  Extent3 stride;
  Extent3 pad;
  std::int64_t channels;  ///< of the image
  std::int64_t filters;   ///< channels of the result

  COSMIC_DEVICE std::int64_t taps() const { return kernel.pixels(); }
};

COSMIC_DEVICE inline std::int64_t filter_blocks(std::int64_t filters) {
  return (filters + kFiltersPerThread - 1) / kFiltersPerThread;
}

/// i: a pixel of the result, of a block of filters, of an image.
struct ConvBody {
  const float* image;
  const float* kernel;  ///< [filter, channel, tap]
  const float* bias;    ///< or null
  const float* addend;  ///< or null
  float* y;
  ConvShape shape;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, shape.result.pixels());
    const Division block = divide(at.whole, filter_blocks(shape.filters));
    const std::int64_t n = block.whole;
    const std::int64_t first = block.rest * kFiltersPerThread;
    const Place3 to = place_of(at.rest, shape.result);
    const int depth0 = to.depth * shape.stride.depth - shape.pad.depth;
    const int row0 = to.row * shape.stride.rows - shape.pad.rows;
    const int column0 = to.column * shape.stride.columns - shape.pad.columns;
    const std::int64_t taps = shape.taps();
    // Filters beyond the last compute the last once more and are not stored.
    std::int64_t weights[kFiltersPerThread];
    for (int f = 0; f < kFiltersPerThread; ++f) {
      const std::int64_t filter = first + f < shape.filters ? first + f : shape.filters - 1;
      weights[f] = filter * shape.channels * taps;
    }
    float total[kFiltersPerThread] = {};
    for (std::int64_t begin = 0; begin < shape.channels; begin += kChannelsPerSum) {
      const std::int64_t end =
          begin + kChannelsPerSum < shape.channels ? begin + kChannelsPerSum : shape.channels;
      float part[kFiltersPerThread] = {};
      for (std::int64_t channel = begin; channel < end; ++channel) {
        const float* const plane = image + (n * shape.channels + channel) * shape.image.pixels();
        const float* const weight = kernel + channel * taps;
        for (int d = 0; d < shape.kernel.depth; ++d) {
          const int depth = depth0 + d;
          if (depth < 0 || depth >= shape.image.depth) {
            continue;
          }
          for (int r = 0; r < shape.kernel.rows; ++r) {
            const int row = row0 + r;
            if (row < 0 || row >= shape.image.rows) {
              continue;
            }
            for (int c = 0; c < shape.kernel.columns; ++c) {
              const int column = column0 + c;
              if (column < 0 || column >= shape.image.columns) {
                continue;
              }
              const float x = plane[shape.image.element(depth, row, column)];
              const std::int64_t tap = shape.kernel.element(d, r, c);
              for (int f = 0; f < kFiltersPerThread; ++f) {
                part[f] += x * weight[weights[f] + tap];
              }
            }
          }
        }
      }
      for (int f = 0; f < kFiltersPerThread; ++f) {
        total[f] += part[f];
      }
    }
    for (int f = 0; f < kFiltersPerThread; ++f) {
      if (first + f < shape.filters) {
        const std::int64_t element =
            (n * shape.filters + first + f) * shape.result.pixels() + at.rest;
        const float with_bias = total[f] + (bias == nullptr ? 0.0F : bias[first + f]);
        y[element] = with_bias + (addend == nullptr ? 0.0F : addend[element]);
      }
    }
  }
};

/// The result that a pixel of the image meets through a tap, along one axis; -1 if there is none.
COSMIC_DEVICE inline int result_at(int pixel, int tap, int stride, int pad, int results) {
  const int from = pixel + pad - tap;
  if (from < 0) {
    return -1;
  }
  const int result = from / stride;
  return result * stride == from && result < results ? result : -1;
}

/// i: a pixel of the image, of a block of its channels, of an image of the batch. The adjoint of a
/// convolution, so it reads `y`, shaped as a convolution's result.
struct ConvTransposeBody {
  const float* y;
  const float* kernel;  ///< [filter, channel, tap]: filters are y's channels
  const float* bias;    ///< per channel of the image, or null
  const float* addend;  ///< or null
  float* image;
  ConvShape shape;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, shape.image.pixels());
    const Division block = divide(at.whole, filter_blocks(shape.channels));
    const std::int64_t n = block.whole;
    const std::int64_t first = block.rest * kFiltersPerThread;
    const Place3 to = place_of(at.rest, shape.image);
    const std::int64_t taps = shape.taps();
    std::int64_t weights[kFiltersPerThread];
    for (int k = 0; k < kFiltersPerThread; ++k) {
      weights[k] = (first + k < shape.channels ? first + k : shape.channels - 1) * taps;
    }
    float total[kFiltersPerThread] = {};
    for (std::int64_t begin = 0; begin < shape.filters; begin += kChannelsPerSum) {
      const std::int64_t end =
          begin + kChannelsPerSum < shape.filters ? begin + kChannelsPerSum : shape.filters;
      float part[kFiltersPerThread] = {};
      for (std::int64_t filter = begin; filter < end; ++filter) {
        const float* const plane = y + (n * shape.filters + filter) * shape.result.pixels();
        const float* const weight = kernel + filter * shape.channels * taps;
        for (int d = 0; d < shape.kernel.depth; ++d) {
          const int depth =
              result_at(to.depth, d, shape.stride.depth, shape.pad.depth, shape.result.depth);
          if (depth < 0) {
            continue;
          }
          for (int r = 0; r < shape.kernel.rows; ++r) {
            const int row =
                result_at(to.row, r, shape.stride.rows, shape.pad.rows, shape.result.rows);
            if (row < 0) {
              continue;
            }
            for (int c = 0; c < shape.kernel.columns; ++c) {
              const int column = result_at(to.column, c, shape.stride.columns, shape.pad.columns,
                                           shape.result.columns);
              if (column < 0) {
                continue;
              }
              const float value = plane[shape.result.element(depth, row, column)];
              const std::int64_t tap = shape.kernel.element(d, r, c);
              for (int k = 0; k < kFiltersPerThread; ++k) {
                part[k] += value * weight[weights[k] + tap];
              }
            }
          }
        }
      }
      for (int k = 0; k < kFiltersPerThread; ++k) {
        total[k] += part[k];
      }
    }
    for (int k = 0; k < kFiltersPerThread; ++k) {
      if (first + k < shape.channels) {
        const std::int64_t element =
            (n * shape.channels + first + k) * shape.image.pixels() + at.rest;
        const float with_bias = total[k] + (bias == nullptr ? 0.0F : bias[first + k]);
        image[element] = with_bias + (addend == nullptr ? 0.0F : addend[element]);
      }
    }
  }
};

/// Output: a tap of a block of filters and a block of channels, 4 x 4 numbers of the gradient.
/// Terms: the pixels of dy in all images.
struct ConvKernelGradientBody {
  static constexpr int kSide = 4;
  static constexpr int kSums = kSide * kSide;

  struct Context {
    Place3 tap;
    std::int64_t filter[kSide];   ///< clamped, so that reading is always allowed
    std::int64_t channel[kSide];  ///< likewise
  };

  const float* image;
  const float* dy;
  float* dkernel;
  ConvShape shape;

  COSMIC_DEVICE std::int64_t blocks_of(std::int64_t count) const {
    return (count + kSide - 1) / kSide;
  }
  COSMIC_DEVICE std::int64_t outputs() const {
    return blocks_of(shape.filters) * blocks_of(shape.channels) * shape.taps();
  }

  COSMIC_DEVICE Context at(std::int64_t output) const {
    const Division tap = divide(output, shape.taps());
    const Division block = divide(tap.whole, blocks_of(shape.channels));
    Context context{};
    context.tap = place_of(tap.rest, shape.kernel);
    for (int k = 0; k < kSide; ++k) {
      const std::int64_t filter = block.whole * kSide + k;
      const std::int64_t channel = block.rest * kSide + k;
      context.filter[k] = filter < shape.filters ? filter : shape.filters - 1;
      context.channel[k] = channel < shape.channels ? channel : shape.channels - 1;
    }
    return context;
  }

  COSMIC_DEVICE void add(const Context& context, std::int64_t term, float* sums) const {
    const Division at = divide(term, shape.result.pixels());
    const Place3 from = place_of(at.rest, shape.result);
    const int depth = from.depth * shape.stride.depth - shape.pad.depth + context.tap.depth;
    const int row = from.row * shape.stride.rows - shape.pad.rows + context.tap.row;
    const int column = from.column * shape.stride.columns - shape.pad.columns + context.tap.column;
    if (depth < 0 || depth >= shape.image.depth || row < 0 || row >= shape.image.rows ||
        column < 0 || column >= shape.image.columns) {
      return;
    }
    const std::int64_t pixel = shape.image.element(depth, row, column);
    float gradients[kSide];
    for (int f = 0; f < kSide; ++f) {
      gradients[f] =
          dy[(at.whole * shape.filters + context.filter[f]) * shape.result.pixels() + at.rest];
    }
    for (int c = 0; c < kSide; ++c) {
      const float x =
          image[(at.whole * shape.channels + context.channel[c]) * shape.image.pixels() + pixel];
      for (int f = 0; f < kSide; ++f) {
        sums[f * kSide + c] += gradients[f] * x;
      }
    }
  }

  COSMIC_DEVICE void finish(std::int64_t output, const double* sums) const {
    const Division tap = divide(output, shape.taps());
    const Division block = divide(tap.whole, blocks_of(shape.channels));
    for (int f = 0; f < kSide; ++f) {
      for (int c = 0; c < kSide; ++c) {
        const std::int64_t filter = block.whole * kSide + f;
        const std::int64_t channel = block.rest * kSide + c;
        if (filter < shape.filters && channel < shape.channels) {
          dkernel[(filter * shape.channels + channel) * shape.taps() + tap.rest] =
              static_cast<float>(sums[f * kSide + c]);
        }
      }
    }
  }
};

/// kernel seen as [., filter, inner] times the scale of its filter.
struct ScaleFiltersBody {
  const float* kernel;
  const float* scales;
  float* scaled;
  std::int64_t filters;
  std::int64_t inner;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    scaled[i] = kernel[i] * scales[divide(quotient(i, inner), filters).rest];
  }
};

}  // namespace cosmic::target::cuda
