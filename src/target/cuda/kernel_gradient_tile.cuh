// The kernel of kernel_gradient_tile.hpp.
#pragma once

#include "target/cuda/kernels/kernel_gradient_tile.hpp"
#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

/// A word of a wide tile: channel `channel` of a pixel that is `pixel_bytes` into its planes.
__device__ inline std::uint32_t wide_word(const std::byte* planes, int plane_bytes, int channel,
                                          int pixel_bytes) {
  return *reinterpret_cast<const std::uint32_t*>(planes + channel / 4 * plane_bytes + pixel_bytes +
                                                 channel % 4 * 4);
}

/// Knows what it reads; if both are interpreted, it does not.
template <Products kProducts, int kColumns, Source kImage, Source kDy>
__global__ void __launch_bounds__(kThreadsOfTile, kColumns == 1   ? 3
                                                  : kColumns <= 3 ? 2
                                                                  : 1)
    kernel_gradient_kernel(const __grid_constant__ KernelGradientTile work) {
  constexpr int kPairs = pairs_of_warp(kColumns);
  constexpr bool kNarrow = channels_per_unit(kProducts) == kBlock;
  extern __shared__ __align__(128) std::byte chip[];
  const KernelGradientGeometry& g = work.geometry;
  const KernelGradientMemory memory = kernel_gradient_memory(work);
  int* const offsets = reinterpret_cast<int*>(chip + memory.offsets);
  std::byte* const image_tile = chip + memory.image;
  std::byte* const dy_tile = chip + memory.dy;

  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int slice = blockIdx.y;
  const int part = blockIdx.z;
  const int depth_tap = part % work.taps.depth;
  const int chunk = part / work.taps.depth % g.chunks;
  const int filter_group = part / work.taps.depth / g.chunks;
  const int first_image = slice * g.images_of_slice;
  const int first_event = first_image / work.dy.depth;
  Pair* const image_table = reinterpret_cast<Pair*>(chip);
  Pair* const dy_table = fill_table(work.image, first_event, image_table);
  fill_table(work.dy, first_event, dy_table);

  const int blocks = work.blocks_of_chunk(chunk);
  const int taps = work.taps.rows * work.taps.columns;
  const int units = work.units_of_block();
  const int row_bytes = g.source_columns * kUnitBytes;
  const int plane_bytes = g.source_rows * row_bytes;
  const int dy_row_bytes = g.tile_columns * kUnitBytes;
  const int dy_plane_bytes = g.tile_rows * dy_row_bytes;
  for (int i = threadIdx.x; i < g.entries(); i += kThreadsOfTile) {
    // Entries too many compute the last once more.
    const int entry = min(i, taps * blocks - 1);
    const int tap = entry / blocks;
    offsets[i] = entry % blocks * units * plane_bytes + tap / work.taps.columns * row_bytes +
                 tap % work.taps.columns * kUnitBytes;
  }

  const int warp_pair = warp % g.warps_over_pairs;
  const int share = warp / g.warps_over_pairs;
  const int shares = kWarpsOfTile / g.warps_over_pairs;
  float sums[kPairs][kColumns][4];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        sums[i][j][k] = 0;
      }
    }
  }

  const int filter_blocks = min(kColumns, work.dy.blocks() - filter_group * kColumns);
  const unsigned source_columns_inverse = inverse_of(g.source_columns);
  const unsigned tile_columns_inverse = inverse_of(g.tile_columns);
  const int groups_across = g.tile_columns / kPixelsOfRow;
  const int groups_of_tile = g.tile_rows * groups_across;
  const int tiles = g.tiles_of_slice();
  const int last_tile = min(tiles, static_cast<int>(blockIdx.x + 1) * g.tiles_of_block);
  TileWalk walk(g, blockIdx.x * g.tiles_of_block, first_image);
#pragma unroll 1
  for (int t = blockIdx.x * g.tiles_of_block; t < last_tile; ++t, walk.next(g)) {
    const auto [across, down, image] = walk;
    const int event = image / work.dy.depth;
    const int depth = image % work.dy.depth;
    const int from = depth * work.stride.depth + work.first.depth + depth_tap;
    if (from < 0 || from >= work.image.depth) {
      continue;
    }
    __syncthreads();
    const TilePlace image_place{static_cast<std::int64_t>(event) * work.image.depth + from,
                                down * g.tile_rows * work.stride.rows + work.first.rows,
                                across * g.tile_columns * work.stride.columns + work.first.columns,
                                g.source_rows,
                                g.source_columns,
                                source_columns_inverse};
    const TilePlace dy_place{image,       down * g.tile_rows, across * g.tile_columns,
                             g.tile_rows, g.tile_columns,     tile_columns_inverse};
    if constexpr (kImage == Source::interpreted) {
      load_tile<kProducts>(work.image, image_table, image_place, chunk * g.chunk_blocks, blocks,
                           image_tile);
      load_tile<kProducts>(work.dy, dy_table, dy_place, filter_group * kColumns, filter_blocks,
                           dy_tile);
    } else {
      load_known_tile<kProducts, kImage, 3>(work.image, image_table, image_place,
                                            chunk * g.chunk_blocks, blocks, image_tile);
      load_known_tile<kProducts, kDy, 2>(work.dy, dy_table, dy_place, filter_group * kColumns,
                                         filter_blocks, dy_tile);
    }
    __syncthreads();
    for (int pixels = share; pixels < groups_of_tile; pixels += shares) {
      const int row = pixels / groups_across;
      const int column = pixels % groups_across * kPixelsOfRow;
      const int image_bytes =
          row * work.stride.rows * row_bytes + column * work.stride.columns * kUnitBytes;
      const int dy_bytes = row * dy_row_bytes + column * kUnitBytes;
      if constexpr (kNarrow) {
        std::uint32_t b[kColumns][2];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          load_transposed(b[j], shared_address(dy_tile) +
                                    min(j, filter_blocks - 1) * dy_plane_bytes + dy_bytes +
                                    lane % 16 * kUnitBytes);
        }
        const std::uint32_t pixel_address =
            shared_address(image_tile) + image_bytes +
            (lane % 8 + lane / 16 * 8) * work.stride.columns * kUnitBytes;
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          const int pair = warp_pair * kPairs + i;
          std::uint32_t a[4];
          load_transposed(a, pixel_address + offsets[2 * pair + lane / 8 % 2]);
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            multiply<kProducts>(sums[i][j], a, b[j][0], b[j][1]);
          }
        }
      } else {
        for (int half = 0; half < 2; ++half) {
          const int pixel = half * 8 + lane % 4;
          std::uint32_t b[kColumns][2];
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            const std::byte* const planes =
                dy_tile + min(j, filter_blocks - 1) * units * dy_plane_bytes;
#pragma unroll
            for (int k = 0; k < 2; ++k) {
              b[j][k] = wide_word(planes, dy_plane_bytes, lane / 4,
                                  dy_bytes + (pixel + 4 * k) * kUnitBytes);
            }
          }
#pragma unroll
          for (int i = 0; i < kPairs; ++i) {
            const int pair = warp_pair * kPairs + i;
            std::uint32_t a[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              a[k] =
                  wide_word(image_tile + offsets[2 * pair + k % 2], plane_bytes, lane / 4,
                            image_bytes + (pixel + k / 2 * 4) * work.stride.columns * kUnitBytes);
            }
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
              multiply<kProducts>(sums[i][j], a, b[j][0], b[j][1]);
            }
          }
        }
      }
    }
  }

  if (shares > 1) {
    __syncthreads();
    float* const shared = reinterpret_cast<float*>(image_tile);
    constexpr int kEach = kPairs * kColumns * 4;
    const int sharing = warp - g.warps_over_pairs;  // the first of each keeps its sums
    if (share > 0) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int place = (sharing * kEach + (i * kColumns + j) * 4 + k) * 32 + lane;
            shared[place] = sums[i][j][k];
          }
        }
      }
    }
    __syncthreads();
    if (share > 0) {
      return;
    }
    for (int other = 1; other < shares; ++other) {
      const int warp_of_other = warp + (other - 1) * g.warps_over_pairs;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            sums[i][j][k] +=
                shared[(warp_of_other * kEach + (i * kColumns + j) * 4 + k) * 32 + lane];
          }
        }
      }
    }
  }
  float* const to =
      work.partials +
      ((static_cast<std::int64_t>(part) * g.slices + slice) * g.blocks + blockIdx.x) * g.elements();
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int entry = 2 * (warp_pair * kPairs + i) + k / 2;
        const int filter = j * kBlock + 2 * (lane % 4) + k % 2;
        to[(entry * kBlock + lane / 4) * kColumns * kBlock + filter] = sums[i][j][k];
      }
    }
  }
}

}  // namespace cosmic::target::cuda
