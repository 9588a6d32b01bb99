// The kernel of conv_tile.hpp for whatever it is told; conv_formula.cuh has those that know what
// they read. A block of threads brings a tile of its source to the chip, with
// what surrounds it, evaluated on the way. Then warps multiply: 16 pixels of a row at a time with
// the weights of a tap, which come through the cache in the order in which threads hold them. Sums
// stay in registers until all taps and channels are in; bias, addend and rounding follow, and sums
// over the result are taken before it leaves the registers. Several blocks per multiprocessor are
// at different points of this, so that loading and multiplying overlap.
#pragma once

#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

/// Adds up the sums of 16 threads, each of which has a pixel, and adds them to `to`. At each stage
/// a thread keeps half of what it has, so that in the end each has one number.
__device__ inline void add_over_half_warp(const PartialSums (&of_thread)[kBlock], int lane,
                                          PartialSums* to) {
  float numbers[2 * kBlock];
#pragma unroll
  for (int k = 0; k < kBlock; ++k) {
    numbers[k] = of_thread[k].uv;
    numbers[kBlock + k] = of_thread[k].v;
  }
#pragma unroll
  for (int apart = 8; apart > 0; apart /= 2) {
    const bool upper = (lane & apart) != 0;
#pragma unroll
    for (int k = 0; k < apart; ++k) {
      const float given = upper ? numbers[k] : numbers[k + apart];
      const float kept = upper ? numbers[k + apart] : numbers[k];
      numbers[k] = kept + __shfl_xor_sync(0xffffffffU, given, apart);
    }
  }
  // Thread t has number t: of u v for the first 8, of v for the others.
  float& sum = lane % 16 < kBlock ? to[lane % 8].uv : to[lane % 8].v;
  sum += numbers[0];
}

/// What a block of threads keeps for the results of its tiles.
struct ResultTables {
  const float* bias;
  const Pair* addend;
  const Pair* u;
  const Pair* v;
  PartialSums* sums;
};

/// What becomes of the sums of a warp's rows of 16 pixels: bias and addend, rounding, memory, and
/// sums over it all. `first` is the number of the first row in its tile, whose corner is at
/// `corner`.
template <int kColumns>
__device__ __forceinline__ void write_rows(const ConvTile& conv, const float* staged,
                                           const ResultTables& tables, const Place corner,
                                           int first) {
  constexpr int kRows = rows_of_warp(kColumns);
  constexpr bool kShareRows = kColumns % 2 == 1;
  const int lane = threadIdx.x % 32;
  const int half = lane / 16;
  const int warp = threadIdx.x / 32;
  const int filter_group = blockIdx.z;
  const int rows_across = conv.geometry.tile_columns / kPixelsOfRow;
  const bool sums_wanted = conv.sums.wanted();
  // Half a warp has a row of pixels. The halves share columns of filters, or rows if there is an
  // odd number of columns.
#pragma unroll 1
  for (int j = kShareRows ? 0 : half; j < kColumns; j += kShareRows ? 1 : 2) {
    const int block = filter_group * kColumns + j;
    PartialSums of_channel[kBlock] = {};
#pragma unroll 1
    for (int i = kShareRows ? half : 0; i < kRows; i += kShareRows ? 2 : 1) {
      const int row = corner.row + (first + i) / rows_across;
      const int column = corner.column + (first + i) % rows_across * kPixelsOfRow + lane % 16;
      if (row >= conv.result.rows || column >= conv.result.columns ||
          block * kBlock >= conv.out.channels) {
        continue;
      }
      const Place at{corner.image, row * conv.out_step.rows + conv.out_first.rows,
                     column * conv.out_step.columns + conv.out_first.columns};
      float value[kBlock];
      read_numbers<kBlock>(staged, Format::f32,
                           ((i * kColumns + j) * kPixelsOfRow + lane % 16) * kBlock, value);
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        value[k] += tables.bias[j * kBlock + k];
      }
      if (conv.addend.exists()) {
        float addend[kBlock];
        call_evaluate<kBlock>(conv.addend, tables.addend, at, block * kBlock, nullptr, addend);
#pragma unroll
        for (int k = 0; k < kBlock; ++k) {
          value[k] += addend[k];
        }
      }
      if (conv.slope != 1) {
#pragma unroll
        for (int k = 0; k < kBlock; ++k) {
          value[k] = leaky(value[k], conv.slope);
        }
      }
      // Channels that only fill up a block are zero: neither weights nor bias are there.
      write_vector(conv.out, at.image, block,
                   static_cast<std::int64_t>(at.row) * conv.out.columns + at.column, value);
      if (!sums_wanted) {
        continue;
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        value[k] = rounded_to(value[k], conv.out.format);
      }
      float v[kBlock];
      float u[kBlock];
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        v[k] = value[k];
      }
      if (conv.sums.v.exists()) {
        call_evaluate<kBlock>(conv.sums.v, tables.v, at, block * kBlock, value, v);
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        u[k] = v[k];
      }
      if (conv.sums.u.exists()) {
        call_evaluate<kBlock>(conv.sums.u, tables.u, at, block * kBlock, value, u);
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        of_channel[k].uv += u[k] * v[k];
        of_channel[k].v += v[k];
      }
    }
    if (sums_wanted) {
      add_over_half_warp(of_channel, lane,
                         tables.sums + ((warp * 2 + half) * kColumns + j) * kBlock);
    }
  }
}

/// Adds the products of some steps to the sums of a warp.
template <Products kProducts, int kColumns>
__device__ __forceinline__ void multiply_steps(float (&sums)[rows_of_warp(kColumns)][kColumns][4],
                                               const std::uint32_t (&base)[rows_of_warp(kColumns)],
                                               const int* offsets, const uint2* weights, int begin,
                                               int end) {
  const int lane = threadIdx.x % 32;
#pragma unroll 4
  for (int step = begin; step < end; ++step) {
    const int offset = offsets[2 * step + lane / 16];
    uint2 b[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      b[j] = __ldg(weights + (step * kColumns + j) * 32);
    }
#pragma unroll
    for (int i = 0; i < rows_of_warp(kColumns); ++i) {
      std::uint32_t a[4];
      load_matrices(a, base[i] + offset);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        multiply<kProducts>(sums[i][j], a, b[j].x, b[j].y);
      }
    }
  }
}

template <Products kProducts, int kColumns>
__global__ void __launch_bounds__(kThreadsOfTile, 2)
    conv_tile_kernel(const __grid_constant__ ConvTile conv) {
  constexpr int kRows = rows_of_warp(kColumns);
  COSMIC_CHIP_MEMORY(chip);
  const ConvTileGeometry& g = conv.geometry;
  const ConvTileMemory memory = conv_tile_memory(conv);
  Pair* const source_table = reinterpret_cast<Pair*>(chip + memory.tables);
  int* const offsets = reinterpret_cast<int*>(chip + memory.offsets);
  std::byte* const tile = chip + memory.tile;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int slice = blockIdx.y;
  const int filter_group = blockIdx.z;
  const int first_image = slice * g.images_of_slice;
  const int first_event = first_image / conv.result.depth;  // all of a slice are in the same groups

  ResultTables tables;
  tables.sums = reinterpret_cast<PartialSums*>(chip + memory.sums);
  tables.bias = reinterpret_cast<const float*>(chip + memory.bias);
  {
    Pair* const addend = fill_table(conv.source, first_event, source_table);
    Pair* const u = fill_table(conv.addend, first_event, addend);
    Pair* const v = fill_table(conv.sums.u, first_event, u);
    fill_table(conv.sums.v, first_event, v);
    tables.addend = addend;
    tables.u = u;
    tables.v = v;
  }
  for (int i = threadIdx.x; i < 2 * kWarpsOfTile * kColumns * kBlock; i += kThreadsOfTile) {
    tables.sums[i] = {0, 0};
  }
  for (int i = threadIdx.x; i < kColumns * kBlock; i += kThreadsOfTile) {
    const int channel = filter_group * kColumns * kBlock + i;
    reinterpret_cast<float*>(chip + memory.bias)[i] =
        conv.bias != nullptr && channel < conv.out.channels
            ? rounded_to(conv.bias[channel], conv.bias_format)
            : 0.0F;
  }

  const int warp_row = warp % g.warps_over_rows;
  const int share = warp / g.warps_over_rows;
  const int shares = kWarpsOfTile / g.warps_over_rows;
  const int rows_across = g.tile_columns / kPixelsOfRow;
  const int row_bytes = g.source_columns * kUnitBytes;
  const int plane_bytes = g.source_rows * row_bytes;
  std::uint32_t base[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int index = warp_row * kRows + i;
    const int row = index / rows_across;
    const int column = index % rows_across * kPixelsOfRow + lane % 16;
    base[i] = shared_address(tile) + row * conv.stride.rows * row_bytes +
              column * conv.stride.columns * kUnitBytes;
  }
  const auto place_units = [&](int units, int steps) {
    const int taps = conv.taps.rows * conv.taps.columns;
    for (int i = threadIdx.x; i < 2 * steps; i += kThreadsOfTile) {
      // A unit too many reads the last one again; its weights are zero.
      const int unit = min(i, taps * units - 1);
      const int tap = unit % taps;
      offsets[i] = unit / taps * plane_bytes + tap / conv.taps.columns * row_bytes +
                   tap % conv.taps.columns * kUnitBytes;
    }
  };

  const uint2* const all_weights =
      reinterpret_cast<const uint2*>(conv.weights) +
      static_cast<std::int64_t>(filter_group) * conv.steps() * kColumns * 32 + lane;
  TilePlace place{};
  place.rows = g.source_rows;
  place.columns = g.source_columns;
  place.columns_inverse = inverse_of(g.source_columns);
  const int last_tile =
      min(g.tiles_of_slice(), static_cast<int>(blockIdx.x + 1) * g.tiles_of_block);
  int offsets_of = -1;  // units of the chunk that the offsets are for
#pragma unroll 1
  for (int t = blockIdx.x * g.tiles_of_block; t < last_tile; ++t) {
    const int across = t % g.tiles_across;
    const int down = t / g.tiles_across % g.tiles_down;
    const int image = first_image + t / (g.tiles_across * g.tiles_down);
    const int event = image / conv.result.depth;
    const int depth = image % conv.result.depth;
    place.row = down * g.tile_rows * conv.stride.rows + conv.first.rows;
    place.column = across * g.tile_columns * conv.stride.columns + conv.first.columns;
    float sums[kRows][kColumns][4];
    const auto clear = [&] {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            sums[i][j][k] = 0;
          }
        }
      }
    };
    clear();
    const uint2* weights = all_weights;
#pragma unroll 1
    for (int d = 0; d < conv.taps.depth; ++d) {
      const int from = depth * conv.stride.depth + conv.first.depth + d;
      place.image = from >= 0 && from < conv.source.depth
                        ? static_cast<std::int64_t>(event) * conv.source.depth + from
                        : -1;
#pragma unroll 1
      for (int chunk = 0; chunk < g.chunks; ++chunk) {
        const int blocks = conv.blocks_of_chunk(chunk);
        const int units = blocks * conv.units_of_block();
        const int steps = conv.steps_of_chunk(chunk);
        __syncthreads();  // the tile before has been used
        if (offsets_of != units) {
          place_units(units, steps);
          offsets_of = units;
        }
        load_tile<kProducts>(conv.source, source_table, place, chunk * g.chunk_blocks, blocks,
                             tile);
        __syncthreads();
        multiply_steps<kProducts, kColumns>(sums, base, offsets, weights, steps * share / shares,
                                            steps * (share + 1) / shares);
        weights += steps * kColumns * 32;
      }
    }
    if (shares > 1) {
      // The first warp of those that share pixels adds up in their order.
      __syncthreads();
      float* const shared = reinterpret_cast<float*>(tile);
      constexpr int kEach = kRows * kColumns * 4;
      if (share > 0) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              shared[(warp * kEach + (i * kColumns + j) * 4 + k) * 32 + lane] = sums[i][j][k];
            }
          }
        }
      }
      __syncthreads();
      for (int other = 1; other < shares && share == 0; ++other) {
        const int from = warp + other * g.warps_over_rows;
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              sums[i][j][k] += shared[(from * kEach + (i * kColumns + j) * 4 + k) * 32 + lane];
            }
          }
        }
      }
    }
    // Results go through the chip once more, so that a thread gets all channels of a block.
    __syncthreads();
    if (share > 0) {
      continue;
    }
    float* const staged =
        reinterpret_cast<float*>(tile) + warp_row * kRows * kColumns * kPixelsOfRow * kBlock;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        float* const to =
            staged + ((i * kColumns + j) * kPixelsOfRow + lane / 4) * kBlock + 2 * (lane % 4);
        *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
        *reinterpret_cast<float2*>(to + 8 * kBlock) = make_float2(sums[i][j][2], sums[i][j][3]);
      }
    }
    __syncwarp();
    const std::int64_t out_image = static_cast<std::int64_t>(event) * conv.out.depth +
                                   depth * conv.out_step.depth + conv.out_first.depth;
    write_rows<kColumns>(conv, staged, tables,
                         {out_image, down * g.tile_rows, across * g.tile_columns},
                         warp_row * kRows);
  }
  if (!conv.sums.wanted()) {
    return;
  }
  __syncthreads();
  const SumsGeometry geometry = g.sums();
  for (int i = threadIdx.x; i < geometry.channels; i += kThreadsOfTile) {
    PartialSums sum{0, 0};
    for (int w = 0; w < 2 * kWarpsOfTile; ++w) {
      sum.uv += tables.sums[w * geometry.channels + i].uv;
      sum.v += tables.sums[w * geometry.channels + i].v;
    }
    const std::int64_t block =
        (static_cast<std::int64_t>(slice) * geometry.columns + filter_group) * geometry.blocks +
        blockIdx.x;
    conv.sums.partials[block * geometry.channels + i] = sum;
  }
  finish_sums(conv.sums, geometry, slice, filter_group, reinterpret_cast<double*>(tile));
}

}  // namespace cosmic::target::cuda
