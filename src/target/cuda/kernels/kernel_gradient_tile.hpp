// The gradient of a convolution's kernel on tensor cores: products of pixels of dy with the pixels
// of the image that a tap reaches, summed over all pixels. What the kernel is told, and how the
// work is cut up; kernel_gradient_tile.cuh is the kernel.
//
// An entry is a tap and a block of 8 channels of the image; two entries are the rows of a matrix
// product, 8 filters its columns, and pixels what it sums over. A block of threads keeps all sums
// of its entries and filters in registers while it goes through its tiles, and leaves them as
// partial sums; a second kernel joins those of all blocks in their order.
#pragma once

#include "target/cuda/kernels/conv_tile.hpp"

namespace cosmic::target::cuda {

/// Pairs of entries that a warp can have with so many columns of filters.
COSMIC_DEVICE constexpr int pairs_of_warp(int filter_columns) {
  return filter_columns <= 2 ? 5 : 4;
}

/// The commonest kernels, 3 x 3, have a loop of their own in 16 bits: a warp goes down the rows,
/// and what it has loaded of a row of the image serves all three rows of taps. Entries of a row are
/// [tap of the row][block]; a warp has some pairs of these, for each row of taps and some columns
/// of filters.
inline constexpr int kTapsOfRow = 3;
inline constexpr int kRowPairsOfWarp = 3;
inline constexpr int kRowColumnsOfWarp = 2;
/// Warps that share the entries and filters of so many channel blocks; the others share the pixels.
COSMIC_DEVICE constexpr int row_warps(int filter_columns, int blocks) {
  const int pairs = (kTapsOfRow * blocks + 1) / 2;
  return (pairs + kRowPairsOfWarp - 1) / kRowPairsOfWarp * (filter_columns / kRowColumnsOfWarp);
}

/// Is there such a kernel? With fewer filters it is slower than the others.
COSMIC_DEVICE constexpr bool knows_rows(int filter_columns, Source image, Source dy) {
  return filter_columns == kMostFilterColumns &&
         ((dy == Source::gradient &&
           (image == Source::sum || image == Source::sums || image == Source::bilinear_sums)) ||
          (image == Source::sum &&
           (dy == Source::plain || dy == Source::gradient3 || dy == Source::gated)));
}

/// Are image and dy copied to the chip as they are stored, while others are multiplied? As for a
/// convolution (is_staged).
COSMIC_DEVICE constexpr bool is_gradient_staged(Products products, int filter_columns, Source image,
                                                Source dy) {
  return products == Products::bf16 && filter_columns > 1 && image != Source::interpreted &&
         dy != Source::interpreted;
}

/// Blocks of threads that the registers of a multiprocessor are shared out to. Upsampled pixels,
/// four at once, need more than three of them leave, and so do the sums of more filters.
COSMIC_DEVICE constexpr int gradient_blocks_of_multiprocessor(int filter_columns, Source image) {
  return filter_columns == 1 && !stages_small(image) ? 3 : 2;
}

/// What a kernel gradient reads: as convolutions do, but an image as it is stored is a sum.
COSMIC_DEVICE inline Source image_source_of(const Recipe& image, Products products) {
  const Source source = source_of(image, products);
  return source == Source::plain ? Source::sum : source;
}

struct KernelGradientGeometry {
  int filter_columns = 1;
  int filter_groups = 1;
  int chunk_blocks = 1;  ///< channel blocks of the image
  int chunks = 1;
  bool by_rows = false;      ///< with row_warps(); what follows is for other kernels
  int warps_over_pairs = 1;  ///< the others share the pixels
  int tile_rows = 1;
  int tile_columns = kPixelsOfRow;
  int source_rows = 1;
  int source_columns = 1;
  int tiles_down = 1;
  int tiles_across = 1;
  int slices = 1;
  int images_of_slice = 1;
  int tiles_of_block = 1;
  int blocks = 1;  ///< of a slice and part
  TileBuffers image;
  TileBuffers dy;

  COSMIC_DEVICE int tiles_of_slice() const { return images_of_slice * tiles_down * tiles_across; }
  COSMIC_DEVICE int entries() const {
    return by_rows ? kTapsOfRow * kTapsOfRow * chunk_blocks
                   : 2 * warps_over_pairs * pairs_of_warp(filter_columns);
  }
  /// Partial sums that a block leaves.
  COSMIC_DEVICE int elements() const { return entries() * kBlock * filter_columns * kBlock; }
};

struct KernelGradientTile {
  Recipe image;
  Recipe dy;
  Image evaluated_dy;  ///< where dy is left for others, in the format of the factors; or none
  Products products = Products::f32;
  float* partials = nullptr;  ///< [part][slice][block][entry][channel][filter]
  Extents taps;
  Extents stride;
  Extents first;  ///< place of the first tap, from the pixel
  int batch = 1;
  KernelGradientGeometry geometry;

  COSMIC_DEVICE int units_of_block() const { return kBlock / channels_per_unit(products); }
  COSMIC_DEVICE int blocks_of_chunk(int chunk) const {
    const int left = image.blocks() - chunk * geometry.chunk_blocks;
    return left < geometry.chunk_blocks ? left : geometry.chunk_blocks;
  }
  COSMIC_DEVICE bool leaves_dy() const { return evaluated_dy.base != nullptr; }
  /// Parts of the gradient that blocks of threads compute apart: [filter group][chunk][depth tap].
  COSMIC_DEVICE int parts() const { return geometry.filter_groups * geometry.chunks * taps.depth; }
  COSMIC_DEVICE std::int64_t partial_floats() const {
    return static_cast<std::int64_t>(parts()) * geometry.slices * geometry.blocks *
           geometry.elements();
  }
};

inline KernelGradientGeometry kernel_gradient_geometry(const KernelGradientTile& gradient,
                                                       int slices) {
  constexpr int kMultiprocessors = 132;  // of the largest cards
  KernelGradientGeometry g;
  const int filters = gradient.dy.blocks();
  g.filter_columns = filter_columns_for(filters);
  g.filter_groups = ceil_of(filters, g.filter_columns);
  g.slices = slices;
  g.images_of_slice = gradient.batch / slices * gradient.dy.depth;
  const int taps = gradient.taps.rows * gradient.taps.columns;
  const int most_pairs = kWarpsOfTile * pairs_of_warp(g.filter_columns);
  const int blocks = gradient.image.blocks();
  g.chunk_blocks = std::clamp(2 * most_pairs / taps, 1, blocks);
  const Source image = image_source_of(gradient.image, gradient.products);
  const Source dy = source_of(gradient.dy, gradient.products);
  g.by_rows = knows_rows(g.filter_columns, image, dy) && gradient.products == Products::bf16 &&
              gradient.taps.rows == kTapsOfRow && gradient.taps.columns == kTapsOfRow &&
              gradient.stride.rows == 1 && gradient.stride.columns == 1;
  while (g.by_rows && row_warps(g.filter_columns, g.chunk_blocks) > kWarpsOfTile) {
    --g.chunk_blocks;
  }
  g.tile_columns = gradient.dy.columns > kPixelsOfRow ? 2 * kPixelsOfRow : kPixelsOfRow;
  g.tile_rows = std::min(32, gradient.dy.rows);
  const bool staged = is_gradient_staged(gradient.products, g.filter_columns, image, dy);
  const auto choose_buffers = [&] {
    g.source_rows = (g.tile_rows - 1) * gradient.stride.rows + gradient.taps.rows;
    g.source_columns = (g.tile_columns - 1) * gradient.stride.columns + gradient.taps.columns;
    const int units = gradient.units_of_block();
    g.image = tile_buffers(image, staged, staged, g.source_rows, g.source_columns,
                           g.chunk_blocks * units);
    const bool dy_staged = staged || dy == Source::plain;
    g.dy = tile_buffers(dy, dy_staged, dy_staged, g.tile_rows, g.tile_columns,
                        g.filter_columns * units);
  };
  const auto fits = [&] {
    choose_buffers();
    // Two blocks of threads share a multiprocessor, or three if they have few filters.
    const int most = staged ? 92 * 1024 : 72 * 1024;
    const int tables =
        (gradient.image.table_pairs() + gradient.dy.table_pairs()) * static_cast<int>(sizeof(Pair));
    return g.image.bytes() + g.dy.bytes() <= std::min(most, kMostSharedBytes - 2048 - tables);
  };
  while (!fits()) {
    if (g.tile_rows > 4) {
      g.tile_rows = std::max(4, g.tile_rows / 2);
    } else if (g.chunk_blocks > 1) {
      g.chunk_blocks = ceil_of(g.chunk_blocks, 2);
    } else if (g.tile_rows > 1) {
      g.tile_rows /= 2;
    } else {
      break;
    }
  }
  g.chunks = ceil_of(blocks, g.chunk_blocks);
  g.chunk_blocks = ceil_of(blocks, g.chunks);
  choose_buffers();
  const int pairs = ceil_of(taps * g.chunk_blocks, 2);
  while (g.warps_over_pairs * pairs_of_warp(g.filter_columns) < pairs) {
    g.warps_over_pairs *= 2;
  }
  g.tiles_down = ceil_of(gradient.dy.rows, g.tile_rows);
  g.tiles_across = ceil_of(gradient.dy.columns, g.tile_columns);
  const int parts = g.filter_groups * g.chunks * gradient.taps.depth;
  // As many as run at the same time: a few more would run alone, after all others.
  const int at_once = kMultiprocessors * gradient_blocks_of_multiprocessor(g.filter_columns, image);
  const int wanted = std::max(1, at_once / (slices * parts));
  g.tiles_of_block = ceil_of(g.tiles_of_slice(), wanted);
  g.blocks = ceil_of(g.tiles_of_slice(), g.tiles_of_block);
  return g;
}

struct KernelGradientMemory {
  int image;
  int dy;
  int bytes;
};

inline COSMIC_DEVICE KernelGradientMemory kernel_gradient_memory(const KernelGradientTile& work) {
  const KernelGradientGeometry& g = work.geometry;
  const auto aligned = [](int bytes) { return (bytes + 127) / 128 * 128; };
  KernelGradientMemory memory{};
  memory.image =
      aligned((work.image.table_pairs() + work.dy.table_pairs()) * static_cast<int>(sizeof(Pair)));
  memory.dy = memory.image + aligned(g.image.bytes());
  const int tiles = memory.dy + g.dy.bytes();
  // Sums of the warps that share entries go through the same memory.
  const int sums_of_warp = g.by_rows ? kTapsOfRow * kRowPairsOfWarp * kRowColumnsOfWarp
                                     : pairs_of_warp(g.filter_columns) * g.filter_columns;
  // A last chunk may have a single block.
  const int first_warps = g.by_rows ? row_warps(g.filter_columns, 1) : g.warps_over_pairs;
  const int shared = memory.image + (kWarpsOfTile - first_warps) * sums_of_warp * 4 * 32 * 4;
  memory.bytes = tiles > shared ? tiles : shared;
  return memory;
}

/// Output: a number of the kernel's gradient. Terms: the blocks that have a part of it.
struct JoinKernelGradient {
  const float* partials = nullptr;
  float* gradient = nullptr;
  Extents taps;
  int filters = 1;
  int channels = 1;
  int spread_taps = 0;  ///< of a spread image: taps in a row; else 0
  int chunks = 1;
  KernelGradientGeometry geometry;

  COSMIC_DEVICE std::int64_t outputs() const {
    return static_cast<std::int64_t>(geometry.filter_groups) * chunks * taps.depth *
           geometry.elements();
  }
  COSMIC_DEVICE int terms() const { return geometry.slices * geometry.blocks; }
  /// Outputs of a block of 256 threads: a thread has one, or 8 share the terms where there are
  /// many.
  COSMIC_DEVICE bool has_few_terms() const { return terms() <= 16; }
  COSMIC_DEVICE int outputs_of_block() const { return has_few_terms() ? 256 : 32; }
  COSMIC_DEVICE float term(std::int64_t output, int i) const {
    const Division at = divide(output, geometry.elements());
    return partials[(at.whole * terms() + i) * geometry.elements() + at.rest];
  }
  /// All terms, one after the other.
  COSMIC_DEVICE double sum(std::int64_t output) const {
    const Division at = divide(output, geometry.elements());
    const float* from = partials + at.whole * terms() * geometry.elements() + at.rest;
    double total = 0;
    for (int i = 0; i < terms(); ++i) {
      total += static_cast<double>(from[static_cast<std::int64_t>(i) * geometry.elements()]);
    }
    return total;
  }
  COSMIC_DEVICE void finish(std::int64_t output, double sum) const {
    const Division part = divide(output, geometry.elements());
    const Division depth = divide(part.whole, taps.depth);
    const Division group = divide(depth.whole, chunks);
    const int columns = geometry.filter_columns * kBlock;
    const Division channel = divide(part.rest, columns);
    const Division entry = divide(channel.whole, kBlock);
    const int filter = static_cast<int>(group.whole) * columns + static_cast<int>(channel.rest);
    const int chunk = static_cast<int>(group.rest);
    const int all_blocks = spread_taps > 0 ? 1 : (channels + kBlock - 1) / kBlock;
    const int left = all_blocks - chunk * geometry.chunk_blocks;
    const int blocks = left < geometry.chunk_blocks ? left : geometry.chunk_blocks;
    const int tap = static_cast<int>(entry.whole) / blocks;
    const int block = static_cast<int>(entry.whole) % blocks;
    int in_block = static_cast<int>(entry.rest);
    if (filter >= filters || tap >= taps.rows * taps.columns) {
      return;
    }
    if (spread_taps > 0) {
      if (in_block < spread_taps) {
        const std::int64_t row =
            static_cast<std::int64_t>(filter * taps.depth + depth.rest) * taps.rows + tap;
        gradient[row * spread_taps + in_block] = static_cast<float>(sum);
      }
      return;
    }
    const int c = (chunk * geometry.chunk_blocks + block) * kBlock + in_block;
    if (c < channels) {
      const std::int64_t kernel = static_cast<std::int64_t>(filter) * channels + c;
      gradient[(kernel * taps.depth + depth.rest) * taps.rows * taps.columns + tap] =
          static_cast<float>(sum);
    }
  }
};

}  // namespace cosmic::target::cuda
