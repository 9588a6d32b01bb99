// The kernel of conv_tile.hpp. A block of threads brings a tile of its source to the chip, with
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

/// What becomes of the sums of some rows of 16 pixels: bias and addend, rounding, memory, and sums
/// over it all. `first` is the number of the first row in its tile, whose corner is at `corner`.
template <int kColumns>
__device__ __noinline__ void write_rows(const ConvTile& conv, const float* staged,
                                        const float* bias, const Pair* addend_table,
                                        const Pair* u_table, const Pair* v_table,
                                        PartialSums* block_sums, const Place corner, int first) {
  constexpr int kStagedRows = staged_rows_of_warp(kColumns);
  constexpr bool kShareRows = kColumns % 2 == 1;
  const int lane = threadIdx.x % 32;
  const int half = lane / 16;
  const int warp = threadIdx.x / 32;
  const int filter_group = blockIdx.z;
  const int rows_across = conv.geometry.tile_columns / kPixelsOfRow;
  const Image out = conv.out;
  // Half a warp has a row of pixels. The halves share columns of filters, or rows if there is an
  // odd number of columns.
#pragma unroll 1
  for (int j = kShareRows ? 0 : half; j < kColumns; j += kShareRows ? 1 : 2) {
    const int block = filter_group * kColumns + j;
    PartialSums of_channel[kBlock] = {};
#pragma unroll 1
    for (int i = kShareRows ? half : 0; i < kStagedRows; i += kShareRows ? 2 : 1) {
      const int row = corner.row + (first + i) / rows_across;
      const int column = corner.column + (first + i) % rows_across * kPixelsOfRow + lane % 16;
      if (row >= conv.result.rows || column >= conv.result.columns ||
          block * kBlock >= out.channels) {
        continue;
      }
      const Place at{corner.image, row * conv.out_step.rows + conv.out_first.rows,
                     column * conv.out_step.columns + conv.out_first.columns};
      float value[kBlock];
      read_numbers<kBlock>(staged, Format::f32,
                           ((i * kColumns + j) * kPixelsOfRow + lane % 16) * kBlock, value);
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        value[k] += bias[j * kBlock + k];
      }
      if (conv.addend.exists()) {
        float addend[kBlock];
        call_evaluate<kBlock>(conv.addend, addend_table, at, block * kBlock, nullptr, addend);
#pragma unroll
        for (int k = 0; k < kBlock; ++k) {
          value[k] += addend[k];
        }
      }
      // Channels that only fill up a block are zero: neither weights nor bias are there.
      write_vector(out, at.image, block,
                   static_cast<std::int64_t>(at.row) * out.columns + at.column, value);
      if (!conv.sums.wanted()) {
        continue;
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        value[k] = rounded_to(value[k], out.format);
      }
      float v[kBlock];
      float u[kBlock];
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        v[k] = value[k];
      }
      if (conv.sums.v.exists()) {
        call_evaluate<kBlock>(conv.sums.v, v_table, at, block * kBlock, value, v);
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        u[k] = v[k];
      }
      if (conv.sums.u.exists()) {
        call_evaluate<kBlock>(conv.sums.u, u_table, at, block * kBlock, value, u);
      }
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        of_channel[k].uv += u[k] * v[k];
        of_channel[k].v += v[k];
      }
    }
    if (conv.sums.wanted()) {
      add_over_half_warp(of_channel, lane,
                         block_sums + ((warp * 2 + half) * kColumns + j) * kBlock);
    }
  }
}

template <Products kProducts, int kColumns>
__global__ void __launch_bounds__(kThreadsOfTile, kColumns <= 2 ? 3 : 2)
    conv_tile_kernel(const __grid_constant__ ConvTile conv) {
  constexpr int kRows = rows_of_warp(kColumns);
  constexpr int kStagedRows = staged_rows_of_warp(kColumns);
  extern __shared__ __align__(128) std::byte chip[];
  const ConvTileGeometry& g = conv.geometry;
  const ConvTileMemory memory = conv_tile_memory(conv);
  Pair* const source_table = reinterpret_cast<Pair*>(chip + memory.tables);
  int* const offsets = reinterpret_cast<int*>(chip + memory.offsets);
  PartialSums* const block_sums = reinterpret_cast<PartialSums*>(chip + memory.sums);
  std::byte* const tile = chip + memory.tile;

  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int slice = blockIdx.y;
  const int filter_group = blockIdx.z;
  const int first_image = slice * g.images_of_slice;
  const int first_event = first_image / conv.result.depth;  // all of a slice are in the same groups
  Pair* const addend_table = fill_table(conv.source, first_event, source_table);
  Pair* const u_table = fill_table(conv.addend, first_event, addend_table);
  Pair* const v_table = fill_table(conv.sums.u, first_event, u_table);
  fill_table(conv.sums.v, first_event, v_table);
  for (int i = threadIdx.x; i < 2 * kWarpsOfTile * kColumns * kBlock; i += kThreadsOfTile) {
    block_sums[i] = {0, 0};
  }
  float* const bias = reinterpret_cast<float*>(chip + memory.bias);
  for (int i = threadIdx.x; i < kColumns * kBlock; i += kThreadsOfTile) {
    const int channel = filter_group * kColumns * kBlock + i;
    bias[i] = conv.bias != nullptr && channel < conv.out.channels
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

  const int tiles = g.tiles_of_slice();
  const int last_tile = min(tiles, static_cast<int>(blockIdx.x + 1) * g.tiles_of_block);
  int offsets_of = -1;  // units of the chunk that the offsets are for
  for (int t = blockIdx.x * g.tiles_of_block; t < last_tile; ++t) {
    const int across = t % g.tiles_across;
    const int down = t / g.tiles_across % g.tiles_down;
    const int image = first_image + t / (g.tiles_across * g.tiles_down);
    const int event = image / conv.result.depth;
    const int depth = image % conv.result.depth;
    float sums[kRows][kColumns][4];
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
    const uint2* weights = reinterpret_cast<const uint2*>(conv.weights) +
                           static_cast<std::int64_t>(filter_group) * conv.steps() * kColumns * 32 +
                           lane;
    for (int d = 0; d < conv.taps.depth; ++d) {
      const int from = depth * conv.stride.depth + conv.first.depth + d;
      const bool within = from >= 0 && from < conv.source.depth;
      const TilePlace place{
          within ? static_cast<std::int64_t>(event) * conv.source.depth + from : -1,
          down * g.tile_rows * conv.stride.rows + conv.first.rows,
          across * g.tile_columns * conv.stride.columns + conv.first.columns,
          g.source_rows,
          g.source_columns,
          inverse_of(g.source_columns)};
      for (int chunk = 0; chunk < g.chunks; ++chunk) {
        const int blocks = conv.blocks_of_chunk(chunk);
        const int steps = conv.steps_of_chunk(chunk);
        __syncthreads();  // the tile before has been used
        const int units = blocks * conv.units_of_block();
        if (offsets_of != units) {
          const int taps = conv.taps.rows * conv.taps.columns;
          for (int i = threadIdx.x; i < 2 * steps; i += kThreadsOfTile) {
            // A unit too many reads the last one again; its weights are zero.
            const int unit = min(i, taps * units - 1);
            const int tap = unit / units;
            offsets[i] = unit % units * plane_bytes + tap / conv.taps.columns * row_bytes +
                         tap % conv.taps.columns * kUnitBytes;
          }
          offsets_of = units;
        }
        load_tile<kProducts>(conv.source, source_table, place, chunk * g.chunk_blocks, blocks,
                             tile);
        __syncthreads();
        const int begin = steps * share / shares;
        const int end = steps * (share + 1) / shares;
        for (int step = begin; step < end; ++step) {
          const int offset = offsets[2 * step + lane / 16];
          uint2 b[kColumns];
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            b[j] = __ldg(weights + (step * kColumns + j) * 32);
          }
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
            std::uint32_t a[4];
            load_matrices(a, base[i] + offset);
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
              multiply<kProducts>(sums[i][j], a, b[j].x, b[j].y);
            }
          }
        }
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
      if (share == 0) {
        for (int other = 1; other < shares; ++other) {
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
    }
    // Results go through the chip once more, so that a thread gets all channels of a block.
    const std::int64_t out_image = static_cast<std::int64_t>(event) * conv.out.depth +
                                   depth * conv.out_step.depth + conv.out_first.depth;
    __syncthreads();
    float* const staged =
        reinterpret_cast<float*>(tile) + warp_row * kStagedRows * kColumns * kPixelsOfRow * kBlock;
#pragma unroll 1
    for (int pass = 0; pass < kRows / kStagedRows && share == 0; ++pass) {
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (i / kStagedRows == pass) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            float* const to =
                staged + ((i % kStagedRows * kColumns + j) * kPixelsOfRow + lane / 4) * kBlock +
                2 * (lane % 4);
            *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
            *reinterpret_cast<float2*>(to + 8 * kBlock) = make_float2(sums[i][j][2], sums[i][j][3]);
          }
        }
      }
      __syncwarp();
      write_rows<kColumns>(conv, staged, bias, addend_table, u_table, v_table, block_sums,
                           {out_image, down * g.tile_rows, across * g.tile_columns},
                           warp_row * kRows + pass * kStagedRows);
    }
  }
  if (!conv.sums.wanted()) {
    return;
  }
  __syncthreads();
  const SumsGeometry geometry = g.sums();
  for (int i = threadIdx.x; i < geometry.channels; i += kThreadsOfTile) {
    PartialSums sum{0, 0};
    for (int w = 0; w < 2 * kWarpsOfTile; ++w) {
      sum.uv += block_sums[w * geometry.channels + i].uv;
      sum.v += block_sums[w * geometry.channels + i].v;
    }
    const std::int64_t block =
        (static_cast<std::int64_t>(slice) * geometry.columns + filter_group) * geometry.blocks +
        blockIdx.x;
    conv.sums.partials[block * geometry.channels + i] = sum;
  }
  finish_sums(conv.sums, geometry, slice, filter_group, reinterpret_cast<double*>(tile));
}

}  // namespace cosmic::target::cuda
