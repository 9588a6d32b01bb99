#include "target/cpu/winograd_conv.hpp"

#include <algorithm>
#include <array>

#include "target/cpu/winograd_tiles.hpp"

namespace cosmic::target::cpu {
namespace {

// With fewer channels the transforms cost what the multiplications save.
constexpr std::int64_t kLeastChannels = 8;

// Narrow images have few tiles to share the weights, which are four times as large as the kernel.
constexpr std::int64_t kLeastColumns = 32;

/// The six rows that a run of tiles reads, from the pixel left of the first tile's first output.
struct TileRows {
  const float* const* rows;  ///< null outside the image
  std::int64_t block_stride;
  std::int64_t channels;

  bool is_blank(std::int64_t row, std::int64_t column) const {
    if (rows[row] == nullptr) {
      return true;
    }
    const float* const pixel = rows[row] + column * kBlock;
    for (std::int64_t c = 0; c < channels; ++c) {
      if (pixel[c / kBlock * block_stride + c % kBlock] != 0) {
        return false;
      }
    }
    return true;
  }
};

/// Outputs of a tile that read nothing but zeros, as WinogradOutput::zeros has them. The direct sum
/// there is exactly 0, but the transforms mix all pixels of the tile and leave a rounding residue.
/// Most of an image is blank, and where nothing is added to the sum an activation would take its
/// slope from the sign of that residue.
std::uint16_t outputs_of_blank_pixels(const TileRows& window, std::int64_t first_column) {
  // Of three neighbouring rows one is row 2 or 5; so for columns. Four pixels tell about nearly
  // every tile that it has no blank 3x3 pixels.
  const auto is_blank = [&](std::int64_t row, std::int64_t column) {
    return window.is_blank(row, first_column + column);
  };
  if (!is_blank(2, 2) && !is_blank(2, 5) && !is_blank(5, 2) && !is_blank(5, 5)) {
    return 0;
  }
  unsigned threes[kWinogradWindow];  // bit k: columns k, k + 1 and k + 2 of this row are blank
  for (std::int64_t i = 0; i < kWinogradWindow; ++i) {
    unsigned blank = 0;
    for (std::int64_t k = 0; k < kWinogradWindow; ++k) {
      blank |= static_cast<unsigned>(is_blank(i, k)) << k;
    }
    threes[i] = blank & blank >> 1 & blank >> 2;
  }
  unsigned outputs = 0;
  for (std::int64_t i = 0; i < kWinogradTile; ++i) {
    outputs |= (threes[i] & threes[i + 1] & threes[i + 2]) << (kWinogradTile * i);
  }
  return static_cast<std::uint16_t>(outputs);
}

}  // namespace

Support WinogradConv::worth(const graph::FeatureMap& kernel, const graph::Window& window,
                            const BlockedImage& input, const BlockedImage& output) {
  const auto text = [](std::int64_t a, std::int64_t b) {
    return std::to_string(a) + " x " + std::to_string(b);
  };
  if (kernel.depth != 1 || kernel.rows != 3 || kernel.columns != 3) {
    return Support::no("the kernel is " + text(kernel.rows, kernel.columns) +
                       (kernel.depth == 1 ? "" : " x " + std::to_string(kernel.depth)) +
                       ", not 3 x 3");
  }
  if (window.stride != std::array<std::int64_t, 3>{1, 1, 1} ||
      window.pad != std::array<std::int64_t, 3>{0, 1, 1}) {
    return Support::no("stride and padding are not 1");
  }
  if (input.channels < kLeastChannels || output.channels < kLeastChannels) {
    return Support::no("of " + text(input.channels, output.channels) + " channels one is below " +
                       std::to_string(kLeastChannels) +
                       ", where the transforms cost what they save");
  }
  if (output.columns < kLeastColumns) {
    return Support::no(std::to_string(output.columns) + " columns are fewer than " +
                       std::to_string(kLeastColumns) + ": too few tiles share the weights");
  }
  if (output.columns % kWinogradTile != 0 || output.rows % kWinogradTile != 0) {
    return Support::no("an image of " + text(output.rows, output.columns) +
                       " is not made of whole tiles of " + text(kWinogradTile, kWinogradTile));
  }
  return Support::yes();
}

WinogradConv::WinogradConv(const BlockedImage& input, const BlockedImage& output)
    : input_channels_(input.channels),
      input_blocks_(input.blocks()),
      filters_(output.channels),
      output_blocks_(output.blocks()),
      tiles_(output.columns / kWinogradTile),
      tiles_together_(winograd_run(tiles_, input_blocks_ + output_blocks_)),
      weights_(kWinogradPositions * output_blocks_ * input_channels_ * kBlock) {}

void WinogradConv::prepare(const Team& all, const float* kernel, bool transposed) {
  const std::int64_t position_stride = output_blocks_ * input_channels_ * kBlock;
  const Team team = all.for_work(static_cast<double>(weights_.bytes()));
  team.run([&](int thread) {
    const Range filters = slice_of(filters_, thread, team.size());
    for (std::int64_t f = filters.begin; f < filters.end; ++f) {
      for (std::int64_t c = 0; c < input_channels_; ++c) {
        const std::int64_t at = transposed ? c * filters_ + f : f * input_channels_ + c;
        winograd_kernel(weights_.data() + (f / kBlock * input_channels_ + c) * kBlock + f % kBlock,
                        position_stride, kernel + at * 9, transposed);
      }
    }
  });
}

std::int64_t WinogradConv::scratch_floats() const {
  return kWinogradPositions * (winograd_position_stride(input_blocks_, tiles_together_) +
                               winograd_position_stride(output_blocks_, tiles_together_));
}

void WinogradConv::run(const Rows& rows, float* scratch) const {
  for (std::int64_t first = 0; first < tiles_; first += tiles_together_) {
    const std::int64_t tiles = std::min(tiles_together_, tiles_ - first);
    const std::int64_t pixel = kWinogradTile * first * kBlock;
    const std::int64_t input_stride = winograd_position_stride(input_blocks_, tiles);
    const std::int64_t output_stride = winograd_position_stride(output_blocks_, tiles);
    float* const transformed = scratch;
    float* const products = scratch + kWinogradPositions * input_stride;
    const float* input[kWinogradWindow];
    for (int i = 0; i < kWinogradWindow; ++i) {
      input[i] = rows.input[i] == nullptr ? nullptr : rows.input[i] + pixel - kBlock;
    }
    winograd_input(transformed, input_stride, input, rows.input_block_stride, input_blocks_, tiles);
    for (std::int64_t k = 0; k < kWinogradPositions; ++k) {
      const Tap tap{transformed + k * input_stride,
                    weights_.data() + k * output_blocks_ * input_channels_ * kBlock};
      conv_row({.taps = &tap,
                .tap_count = 1,
                .input_channels = input_channels_,
                .input_block_stride = tiles * kBlock,
                .weight_block_stride = input_channels_ * kBlock,
                .output_blocks = output_blocks_,
                .width = tiles,
                .output = products + k * output_stride,
                .output_block_stride = tiles * kBlock});
    }
    std::array<std::uint16_t, kMostWinogradTiles> zeros;
    const TileRows window{input, rows.input_block_stride, input_channels_};
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      zeros[static_cast<std::size_t>(tile)] = outputs_of_blank_pixels(window, kWinogradTile * tile);
    }
    WinogradOutput output;
    output.zeros = zeros.data();
    output.products = products;
    output.position_stride = output_stride;
    output.blocks = output_blocks_;
    output.tiles = tiles;
    output.block_stride = rows.output_block_stride;
    output.bias = rows.bias;
    for (int i = 0; i < kWinogradTile; ++i) {
      output.rows[i] = rows.output[i] + pixel;
      output.addends[i] = rows.addend[i] == nullptr ? nullptr : rows.addend[i] + pixel;
    }
    winograd_output(output);
  }
}

}  // namespace cosmic::target::cpu
