// Where the numbers of an image are. Blocked: [batch][depth][channel block][row][column][8], so
// that a pixel's block is one load and a depth slice is just another image. A float32 image of at
// most 4 channels (scores of classes) has blocks of 4. Plain: [batch][channel][depth][row][column].
// Channels that fill up a block are written as zero and never used.
#pragma once

#include "target/cuda/kernels/narrow.hpp"

namespace cosmic::target::cuda {

inline constexpr int kBlock = 8;
inline constexpr int kNarrowBlock = 4;

struct Image {
  void* base = nullptr;
  Format format = Format::f32;
  std::uint8_t lanes = 1;  ///< channels of a block; 1 for a plain image
  int channels = 1;
  int depth = 1;
  int rows = 1;
  int columns = 1;
  int images = 1;  ///< depth slices count

  COSMIC_DEVICE bool is_blocked() const { return lanes > 1; }
  COSMIC_DEVICE int blocks() const {
    return lanes == kBlock         ? (channels + kBlock - 1) / kBlock
           : lanes == kNarrowBlock ? (channels + kNarrowBlock - 1) / kNarrowBlock
                                   : channels;
  }
  COSMIC_DEVICE std::int64_t pixels() const { return static_cast<std::int64_t>(rows) * columns; }
  /// Vectors of a blocked image: pixels of blocks.
  COSMIC_DEVICE std::int64_t vectors() const { return images * blocks() * pixels(); }

  /// Of a pixel of a blocked image.
  COSMIC_DEVICE std::int64_t vector_offset(std::int64_t image, int block,
                                           std::int64_t pixel) const {
    return ((image * blocks() + block) * pixels() + pixel) * lanes;
  }
  COSMIC_DEVICE std::int64_t offset(std::int64_t image, int channel, std::int64_t pixel) const {
    if (is_blocked()) {
      return vector_offset(image, channel / lanes, pixel) + channel % lanes;
    }
    if (depth == 1) {
      return (image * channels + channel) * pixels() + pixel;
    }
    const Division at = divide(image, depth);
    return ((at.whole * channels + channel) * depth + at.rest) * pixels() + pixel;
  }

  COSMIC_DEVICE float load(std::int64_t image, int channel, std::int64_t pixel) const {
    return read_number(base, format, offset(image, channel, pixel));
  }
  COSMIC_DEVICE void store(std::int64_t image, int channel, std::int64_t pixel, float x) const {
    write_number(base, format, offset(image, channel, pixel), x);
  }
};

/// 8 channels of a pixel of a blocked image.
COSMIC_DEVICE inline void write_vector(const Image& image, std::int64_t at, int block,
                                       std::int64_t pixel, const float* numbers) {
  const std::int64_t first = image.vector_offset(at, block, pixel);
  if (image.lanes == kNarrowBlock) {
    write_numbers<kNarrowBlock>(image.base, image.format, first, numbers);
  } else {
    write_numbers<kBlock>(image.base, image.format, first, numbers);
  }
}

/// A pixel of an image.
struct Place {
  std::int64_t image;
  int row;
  int column;
};

}  // namespace cosmic::target::cuda
