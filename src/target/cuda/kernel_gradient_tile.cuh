// The kernel of kernel_gradient_tile.hpp.
#pragma once

#include "target/cuda/kernels/kernel_gradient_tile.hpp"
#include "target/cuda/staged_tile.cuh"

namespace cosmic::target::cuda {

/// A word of a wide tile: channel `channel` of a pixel that is `pixel_bytes` into its planes.
__device__ inline std::uint32_t wide_word(const std::byte* planes, int plane_bytes, int channel,
                                          int pixel_bytes) {
  return *reinterpret_cast<const std::uint32_t*>(planes + channel / 4 * plane_bytes + pixel_bytes +
                                                 channel % 4 * 4);
}

/// Joins the sums of warps that have had a share of the pixels each, in their order: the first
/// `kept` warps have the totals, and true is returned for them.
template <int kNumbers>
__device__ __forceinline__ bool join_shares(float* numbers, int kept, int shares, float* shared) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int share = warp / kept;
  if (shares > 1) {
    __syncthreads();
    if (share > 0 && share < shares) {
#pragma unroll
      for (int k = 0; k < kNumbers; ++k) {
        shared[((warp - kept) * kNumbers + k) * 32 + lane] = numbers[k];
      }
    }
    __syncthreads();
    for (int other = 1; other < shares && share == 0; ++other) {
      const int of = warp + (other - 1) * kept;
#pragma unroll
      for (int k = 0; k < kNumbers; ++k) {
        numbers[k] += shared[(of * kNumbers + k) * 32 + lane];
      }
    }
  }
  return share == 0;
}

/// The products of a warp in the loop by rows (kTapsOfRow).
template <Products kProducts, int kColumns>
class RowProducts {
 public:
  __device__ RowProducts(const KernelGradientGeometry& g, int blocks)
      : g_(g),
        blocks_(blocks),
        warps_(row_warps(kColumns, blocks)),
        shares_(kWarpsOfTile / warps_),
        share_(threadIdx.x / 32 / warps_) {
    const int warp = threadIdx.x / 32 % warps_;
    first_column_ = warp % kColumnGroups * kColumnsOfWarp;
    first_pair_ = warp / kColumnGroups * kPairs;
    const int lane = threadIdx.x % 32;
    const int plane_bytes = g.source_rows * g.source_columns * kUnitBytes;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      // Entries too many compute the last once more.
      const int entry = min(2 * (first_pair_ + i) + lane / 8 % 2, kTapsOfRow * blocks - 1);
      offset_[i] = entry % blocks * plane_bytes + entry / blocks * kUnitBytes +
                   (lane % 8 + lane / 16 * 8) * kUnitBytes;
    }
  }

  __device__ __forceinline__ void add(const std::byte* image_tile, const std::byte* dy_tile,
                                      int filter_blocks) {
    const int lane = threadIdx.x % 32;
    const int row_bytes = g_.source_columns * kUnitBytes;
    const int dy_row_bytes = g_.tile_columns * kUnitBytes;
    const int dy_plane_bytes = g_.tile_rows * dy_row_bytes;
    const int across = g_.tile_columns / kPixelsOfRow;
    const int ranges = max(1, shares_ / across);
    const int rows_of_range = (g_.tile_rows + ranges - 1) / ranges;
    std::uint32_t dy_plane[kColumnsOfWarp];
#pragma unroll
    for (int j = 0; j < kColumnsOfWarp; ++j) {
      dy_plane[j] = shared_address(dy_tile) +
                    min(first_column_ + j, filter_blocks - 1) * dy_plane_bytes +
                    lane % 16 * kUnitBytes;
    }
    const std::uint32_t image = shared_address(image_tile);
#pragma unroll 1
    for (int item = share_; share_ < shares_ && item < across * ranges; item += shares_) {
      const int column_bytes = item % across * kPixelsOfRow * kUnitBytes;
      const int begin = item / across * rows_of_range;
      const int end = min(g_.tile_rows, begin + rows_of_range);
      // Of the rows of dy that the row of the image reaches: row r is in place (r - begin) % 3.
      std::uint32_t b[kTapsOfRow][kColumnsOfWarp][2];
#pragma unroll 1
      for (int first = begin; first < end + kTapsOfRow - 1; first += kTapsOfRow) {
#pragma unroll
        for (int u = 0; u < kTapsOfRow; ++u) {
          const int row = first + u;
          if (row >= end + kTapsOfRow - 1) {
            break;
          }
          if (row < end) {
#pragma unroll
            for (int j = 0; j < kColumnsOfWarp; ++j) {
              load_transposed(b[u][j], dy_plane[j] + row * dy_row_bytes + column_bytes);
            }
          }
          std::uint32_t a[kPairs][4];
#pragma unroll
          for (int i = 0; i < kPairs; ++i) {
            load_transposed(a[i], image + row * row_bytes + column_bytes + offset_[i]);
          }
#pragma unroll
          for (int tap = 0; tap < kTapsOfRow; ++tap) {
            if (row - tap >= begin && row - tap < end) {
#pragma unroll
              for (int i = 0; i < kPairs; ++i) {
#pragma unroll
                for (int j = 0; j < kColumnsOfWarp; ++j) {
                  const auto& factor = b[(u + kTapsOfRow - tap) % kTapsOfRow][j];
                  multiply<kProducts>(sums_[tap][i][j], a[i], factor[0], factor[1]);
                }
              }
            }
          }
        }
      }
    }
  }

  /// As [entry][channel][filter].
  __device__ __forceinline__ void write(float* shared, float* to) {
    if (!join_shares<kTapsOfRow * kPairs * kColumnsOfWarp * 4>(&sums_[0][0][0][0], warps_, shares_,
                                                               shared)) {
      return;
    }
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int tap = 0; tap < kTapsOfRow; ++tap) {
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
#pragma unroll
        for (int j = 0; j < kColumnsOfWarp; ++j) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int of_row = 2 * (first_pair_ + i) + k / 2;
            if (of_row < kTapsOfRow * blocks_) {
              const int entry = (tap * kTapsOfRow + of_row / blocks_) * blocks_ + of_row % blocks_;
              const int filter = (first_column_ + j) * kBlock + 2 * (lane % 4) + k % 2;
              to[(entry * kBlock + lane / 4) * kColumns * kBlock + filter] = sums_[tap][i][j][k];
            }
          }
        }
      }
    }
  }

 private:
  static constexpr int kPairs = kRowPairsOfWarp;
  static constexpr int kColumnsOfWarp = kRowColumnsOfWarp;
  static constexpr int kColumnGroups = kColumns / kColumnsOfWarp;

  const KernelGradientGeometry& g_;
  int blocks_;
  int warps_;
  int shares_;
  int share_;
  int first_column_;
  int first_pair_;
  int offset_[kPairs];
  float sums_[kTapsOfRow][kPairs][kColumnsOfWarp][4] = {};
};

/// The products of a warp with any kernel.
template <Products kProducts, int kColumns>
class TapProducts {
 public:
  __device__ TapProducts(const KernelGradientTile& work, int blocks)
      : work_(work),
        g_(work.geometry),
        warp_pair_(threadIdx.x / 32 % g_.warps_over_pairs),
        share_(threadIdx.x / 32 / g_.warps_over_pairs),
        shares_(kWarpsOfTile / g_.warps_over_pairs) {
    const int taps = work.taps.rows * work.taps.columns;
    const int row_bytes = g_.source_columns * kUnitBytes;
    const auto offset = [&](int i) {
      // Entries too many compute the last once more.
      const int entry = min(i, taps * blocks - 1);
      const int tap = entry / blocks;
      return entry % blocks * work.units_of_block() * g_.source_rows * row_bytes +
             tap / work.taps.columns * row_bytes + tap % work.taps.columns * kUnitBytes;
    };
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const int first = 2 * (warp_pair_ * kPairs + i);
      if constexpr (kNarrow) {
        offsets_[i][0] = offset(first + lane / 8 % 2) +
                         (lane % 8 + lane / 16 * 8) * work.stride.columns * kUnitBytes;
      } else {
        offsets_[i][0] = offset(first);
        offsets_[i][1] = offset(first + 1);
      }
    }
  }

  __device__ __forceinline__ void add(const std::byte* image_tile, const std::byte* dy_tile,
                                      int filter_blocks) {
    const int row_bytes = g_.source_columns * kUnitBytes;
    const int dy_row_bytes = g_.tile_columns * kUnitBytes;
    // One or two groups of pixels are side by side. A warp goes down one of them, so that addresses
    // are counted on, as what it takes to find them would be half of all instructions.
    const int second = g_.tile_columns / kPixelsOfRow - 1;  // is there one?
    const int rows_apart = max(1, shares_ >> second);
    const int image_step = rows_apart * work_.stride.rows * row_bytes;
    const int dy_step = rows_apart * dy_row_bytes;
#pragma unroll 1
    for (int group = share_; group < rows_apart << second; group += shares_) {
      const int first_row = group >> second;
      const int column = (group & second) * kPixelsOfRow;
      int image_bytes =
          first_row * work_.stride.rows * row_bytes + column * work_.stride.columns * kUnitBytes;
      int dy_bytes = first_row * dy_row_bytes + column * kUnitBytes;
#pragma unroll 1
      for (int row = first_row; row < g_.tile_rows;
           row += rows_apart, image_bytes += image_step, dy_bytes += dy_step) {
        add_pixels(image_tile, dy_tile, filter_blocks, image_bytes, dy_bytes);
      }
    }
  }

  /// As [entry][channel][filter].
  __device__ __forceinline__ void write(float* shared, float* to) {
    if (!join_shares<kPairs * kColumns * 4>(&sums_[0][0][0], g_.warps_over_pairs, shares_,
                                            shared)) {
      return;
    }
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int entry = 2 * (warp_pair_ * kPairs + i) + k / 2;
          const int filter = j * kBlock + 2 * (lane % 4) + k % 2;
          to[(entry * kBlock + lane / 4) * kColumns * kBlock + filter] = sums_[i][j][k];
        }
      }
    }
  }

 private:
  static constexpr int kPairs = pairs_of_warp(kColumns);
  static constexpr bool kNarrow = channels_per_unit(kProducts) == kBlock;

  /// 16 pixels of a row, so many bytes into the planes of both tiles.
  __device__ __forceinline__ void add_pixels(const std::byte* image_tile, const std::byte* dy_tile,
                                             int filter_blocks, int image_bytes, int dy_bytes) {
    const int lane = threadIdx.x % 32;
    const int dy_plane_bytes = g_.tile_rows * g_.tile_columns * kUnitBytes;
    if constexpr (kNarrow) {
      std::uint32_t b[kColumns][2];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        load_transposed(b[j], shared_address(dy_tile) + min(j, filter_blocks - 1) * dy_plane_bytes +
                                  dy_bytes + lane % 16 * kUnitBytes);
      }
      const std::uint32_t pixel_address = shared_address(image_tile) + image_bytes;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        std::uint32_t a[4];
        load_transposed(a, pixel_address + offsets_[i][0]);
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          multiply<kProducts>(sums_[i][j], a, b[j][0], b[j][1]);
        }
      }
    } else {
      const int units = work_.units_of_block();
      const int plane_bytes = g_.source_rows * g_.source_columns * kUnitBytes;
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
          std::uint32_t a[4];
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            a[k] = wide_word(image_tile + offsets_[i][k % 2], plane_bytes, lane / 4,
                             image_bytes + (pixel + k / 2 * 4) * work_.stride.columns * kUnitBytes);
          }
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            multiply<kProducts>(sums_[i][j], a, b[j][0], b[j][1]);
          }
        }
      }
    }
  }

  const KernelGradientTile& work_;
  const KernelGradientGeometry& g_;
  int warp_pair_;
  int share_;
  int shares_;
  int offsets_[kPairs][kNarrow ? 1 : 2];  ///< of entries, in a tile
  float sums_[kPairs][kColumns][4] = {};
};

/// Writes blocks [first, first + count) of a tile to the image that it was made for.
template <Products kProducts>
__device__ __forceinline__ void leave_tile(const std::byte* tile, const TilePlace& place, int first,
                                           int count, const Image& to) {
  using Raw = RawBlock<kProducts>;
  const int pixels = place.rows * place.columns;
  const std::int64_t block_bytes = to.pixels() * Raw::kBytes;
  std::byte* const planes = const_cast<std::byte*>(plane_of<kProducts>(to, place.image, first));
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    const int row =
        place.row + static_cast<int>(__umulhi(static_cast<unsigned>(p), place.columns_inverse));
    const int column = place.column + p - (row - place.row) * place.columns;
    if (row >= to.rows || column >= to.columns) {
      continue;
    }
    std::byte* plane = planes;
#pragma unroll 2
    for (int b = 0; b < count; ++b) {
      Raw raw;
#pragma unroll
      for (int k = 0; k < Raw::kParts; ++k) {
        raw.part[k] = *reinterpret_cast<const Words<4>*>(
            tile + ((Raw::kParts * b + k) * pixels + p) * kUnitBytes);
      }
      raw.store(plane, row * to.columns + column);
      plane += block_bytes;
    }
  }
}

/// Knows what it reads; if both are interpreted, it does not.
template <Products kProducts, int kColumns, Source kImage, Source kDy, bool kByRows>
__global__ void __launch_bounds__(kThreadsOfTile,
                                  gradient_blocks_of_multiprocessor(kColumns, kImage))
    kernel_gradient_kernel(const __grid_constant__ KernelGradientTile work) {
  COSMIC_CHIP_MEMORY(chip);
  const KernelGradientGeometry& g = work.geometry;
  const KernelGradientMemory memory = kernel_gradient_memory(work);
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
  auto products = [&] {
    if constexpr (kByRows) {
      return RowProducts<kProducts, kColumns>(g, blocks);
    } else {
      return TapProducts<kProducts, kColumns>(work, blocks);
    }
  }();
  const int filter_blocks = min(kColumns, work.dy.blocks() - filter_group * kColumns);
  const unsigned source_columns_inverse = inverse_of(g.source_columns);
  const unsigned tile_columns_inverse = inverse_of(g.tile_columns);
  const int tiles = g.tiles_of_slice();
  const int last_tile = min(tiles, static_cast<int>(blockIdx.x + 1) * g.tiles_of_block);
  constexpr bool kKnown = kImage != Source::interpreted;
  constexpr bool kFewRegisters = kByRows || kColumns != 2;
  constexpr bool kStaged = is_gradient_staged(kProducts, kColumns, kImage, kDy);
  // As many pixels of a thread at once as registers allow.
  constexpr int kUnderWay = kColumns == 1 ? 4 : 2;
  const StagedTile<kProducts, kImage, kStaged, kUnderWay, kFewRegisters> staged_image(
      work.image, image_table, g.image, chip + memory.image);
  constexpr bool kDyStaged = kStaged || kDy == Source::plain;
  const StagedTile<kProducts, kDy, kDyStaged, kUnderWay, kFewRegisters> staged_dy(
      work.dy, dy_table, g.dy, chip + memory.dy);
  /// A slice of the image that a tap reaches, and the tiles in it.
  struct Item {
    int tile;
    TileWalk walk;
    int depth_of_image;  ///< of its event
  };
  // Along the depth, a tap may reach beyond the image.
  const bool is_flat = work.image.depth == 1 && work.dy.depth == 1;  // spares divisions
  const auto is_reached = [&](Item& item) {
    if (is_flat) {
      return true;
    }
    item.depth_of_image =
        item.walk.image % work.dy.depth * work.stride.depth + work.first.depth + depth_tap;
    return item.depth_of_image >= 0 && item.depth_of_image < work.image.depth;
  };
  const auto find = [&](Item& item) {
    while (item.tile < last_tile && !is_reached(item)) {
      ++item.tile;
      item.walk.next(g);
    }
  };
  const auto image_place = [&](const Item& item) {
    return TilePlace{is_flat
                         ? item.walk.image
                         : item.walk.image / work.dy.depth * work.image.depth + item.depth_of_image,
                     item.walk.down * g.tile_rows * work.stride.rows + work.first.rows,
                     item.walk.across * g.tile_columns * work.stride.columns + work.first.columns,
                     g.source_rows,
                     g.source_columns,
                     source_columns_inverse};
  };
  const auto dy_place = [&](const Item& item) {
    return TilePlace{item.walk.image,
                     item.walk.down * g.tile_rows,
                     item.walk.across * g.tile_columns,
                     g.tile_rows,
                     g.tile_columns,
                     tile_columns_inverse};
  };
  const int first_block = chunk * g.chunk_blocks;
  const int first_filter_block = filter_group * kColumns;
  Item item{static_cast<int>(blockIdx.x) * g.tiles_of_block,
            TileWalk(g, blockIdx.x * g.tiles_of_block, first_image), 0};
  find(item);
  const auto begin = [&](const Item& at, int number) {
    staged_image.begin(image_place(at), first_block, blocks, number);
    staged_dy.begin(dy_place(at), first_filter_block, filter_blocks, number);
  };
  if constexpr (kKnown) {
    if (item.tile < last_tile) {
      begin(item, 0);
    }
  }
  __syncthreads();  // the tables are filled
#pragma unroll 1
  for (int number = 0; item.tile < last_tile; ++number) {
    Item next = item;
    ++next.tile;
    next.walk.next(g);
    find(next);
    if constexpr (kKnown) {
      if (!kStaged) {
        __syncthreads();  // what was there before has been used
      }
      staged_image.finish(image_place(item), first_block, blocks, number);
      staged_dy.finish(dy_place(item), first_filter_block, filter_blocks, number);
      __syncthreads();
      // All threads have passed the barrier, so the tiles before these have been used.
      if (next.tile < last_tile) {
        begin(next, number + 1);
      }
    } else {
      __syncthreads();  // what was there before has been used
      load_tile<kProducts>(work.image, image_table, image_place(item), first_block, blocks,
                           staged_image.tile(0));
      load_tile<kProducts>(work.dy, dy_table, dy_place(item), first_filter_block, filter_blocks,
                           staged_dy.tile(0));
      __syncthreads();
    }
    const std::byte* const image_tile = staged_image.tile(kKnown ? number : 0);
    const std::byte* const dy_tile = staged_dy.tile(kKnown ? number : 0);
    if (work.leaves_dy() && chunk == 0) {
      leave_tile<kProducts>(dy_tile, dy_place(item), first_filter_block, filter_blocks,
                            work.evaluated_dy);
    }
    products.add(image_tile, dy_tile, filter_blocks);
    item = next;
  }

  products.write(reinterpret_cast<float*>(chip + memory.image),
                 work.partials + ((static_cast<std::int64_t>(part) * g.slices + slice) * g.blocks +
                                  blockIdx.x) *
                                     g.elements());
}

}  // namespace cosmic::target::cuda
