// Bringing pixels to the chip, evaluated on the way, and joining the sums that blocks leave.
#pragma once

#include "target/cuda/tensor_core.cuh"

namespace cosmic::target::cuda {

inline constexpr int kThreadsOfTile = kWarpsOfTile * 32;

/// Numbers per channel of the group that an image of the batch is in. Returns what follows.
__device__ inline Pair* fill_table(const Recipe& recipe, int event, Pair* table) {
  const int pairs = recipe.table_pairs();
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    table[i] = table_entry(recipe, event, i);
  }
  return table + pairs;
}

/// A part of an image on the chip: [unit][row][column], 16 bytes each.
struct TilePlace {
  std::int64_t image;  ///< or -1: all of it is outside
  int row;             ///< of the first pixel, which may lie outside
  int column;
  int rows;
  int columns;
  unsigned columns_inverse;  ///< ceil(2^32 / columns)
};

__device__ inline unsigned inverse_of(int n) {
  return static_cast<unsigned>((0x100000000ULL + static_cast<unsigned>(n) - 1) /
                               static_cast<unsigned>(n));
}

/// 8 channels of pixel p of a tile whose blocks have `pixels` pixels.
template <Products kProducts>
__device__ inline void put(std::byte* tile, int block, int pixels, int p, const float* numbers) {
  if constexpr (channels_per_unit(kProducts) == kBlock) {
    *reinterpret_cast<Words<4>*>(tile + (block * pixels + p) * kUnitBytes) =
        pack<kBlock>(numbers, kFormatOf<kProducts>);
  } else {
    write_numbers<4>(tile + (2 * block * pixels + p) * kUnitBytes, Format::f32, 0, numbers);
    write_numbers<4>(tile + ((2 * block + 1) * pixels + p) * kUnitBytes, Format::f32, 0,
                     numbers + 4);
  }
}

/// Raw 16 bytes or 32 of a stored block.
template <bool kNarrow>
struct RawBlock {
  Words<4> part[kNarrow ? 1 : 2];

  __device__ void load(const Image& image, std::int64_t offset) {
    if constexpr (kNarrow) {
      part[0] = *reinterpret_cast<const Words<4>*>(static_cast<const std::uint16_t*>(image.base) +
                                                   offset);
    } else {
      const auto* const from =
          reinterpret_cast<const Words<4>*>(static_cast<const float*>(image.base) + offset);
      part[0] = from[0];
      part[1] = from[1];
    }
  }
  __device__ void floats(Format format, float* out) const {
    if constexpr (kNarrow) {
      unpack<kBlock>(part[0], format, out);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        out[k] = float_of(part[0].word[k]);
        out[4 + k] = float_of(part[1].word[k]);
      }
    }
  }
};

/// A pixel of a tile, and whether there is one in the image.
struct TilePixel {
  int row;
  int column;
  bool inside;
};

__device__ inline TilePixel tile_pixel(const TilePlace& place, const Recipe& recipe, int p) {
  const int r = static_cast<int>(__umulhi(static_cast<unsigned>(p), place.columns_inverse));
  TilePixel pixel{place.row + r, place.column + p - r * place.columns, false};
  pixel.inside = p < place.rows * place.columns && place.image >= 0 && pixel.row >= 0 &&
                 pixel.row < recipe.rows && pixel.column >= 0 && pixel.column < recipe.columns;
  return pixel;
}

/// leaky(leaf s + t), or the leaf as it is.
template <Products kProducts>
__device__ __forceinline__ void load_activated(const Recipe& recipe, const Pair* table,
                                               const TilePlace place, int block, std::byte* tile,
                                               int tile_block) {
  constexpr int kUnderWay = 4;  // pixels of a thread, so that it waits for all of them at once
  constexpr bool kNarrow = channels_per_unit(kProducts) == kBlock;
  const Image image = recipe.leaf[0].image;
  const std::int64_t plane = image.vector_offset(place.image, block, 0);
  const bool as_it_is = recipe.form == Form::stored;
  const float slope = as_it_is ? 1.0F : recipe.instruction[2].slope;
  const int pixels = place.rows * place.columns;
  Pair pairs[kBlock];
#pragma unroll
  for (int k = 0; k < kBlock; ++k) {
    pairs[k] = as_it_is ? Pair{1, 0} : table[block * kBlock + k];
  }
#pragma unroll 1
  for (int begin = threadIdx.x; begin < pixels; begin += kUnderWay * kThreadsOfTile) {
    RawBlock<kNarrow> raw[kUnderWay];
    bool inside[kUnderWay];
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      const TilePixel pixel = tile_pixel(place, recipe, begin + u * kThreadsOfTile);
      inside[u] = pixel.inside;
      if (pixel.inside) {
        raw[u].load(
            image,
            plane + (static_cast<std::int64_t>(pixel.row) * image.columns + pixel.column) * kBlock);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      const int p = begin + u * kThreadsOfTile;
      if (p < pixels) {
        float value[kBlock] = {};
        if (inside[u]) {
          raw[u].floats(image.format, value);
#pragma unroll
          for (int k = 0; k < kBlock; ++k) {
            const float affine = value[k] * pairs[k].s + pairs[k].t;
            value[k] = affine > 0 ? affine : slope * affine;
          }
        }
        put<kProducts>(tile, tile_block, pixels, p, value);
      }
    }
  }
}

/// dy gated by the activation, and through the normalisation: with z = x s + t,
/// (z > 0 ? dy : slope dy) s + (x q + r).
template <Products kProducts>
__device__ __forceinline__ void load_normalized(const Recipe& recipe, const Pair* table,
                                                const TilePlace place, int block, std::byte* tile,
                                                int tile_block) {
  constexpr int kUnderWay = 2;
  constexpr bool kNarrow = channels_per_unit(kProducts) == kBlock;
  const Image dy = recipe.leaf[0].image;
  const Image x = recipe.leaf[1].image;
  const std::int64_t plane = dy.vector_offset(place.image, block, 0);
  const float slope = recipe.instruction[1].slope;
  const int pixels = place.rows * place.columns;
  const int channels = recipe.blocks() * kBlock;
  Pair inner[kBlock];
  Pair outer[kBlock];
#pragma unroll
  for (int k = 0; k < kBlock; ++k) {
    inner[k] = table[block * kBlock + k];
    outer[k] = table[2 * channels + block * kBlock + k];
  }
#pragma unroll 1
  for (int begin = threadIdx.x; begin < pixels; begin += kUnderWay * kThreadsOfTile) {
    RawBlock<kNarrow> raw_dy[kUnderWay];
    RawBlock<kNarrow> raw_x[kUnderWay];
    bool inside[kUnderWay];
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      const TilePixel pixel = tile_pixel(place, recipe, begin + u * kThreadsOfTile);
      inside[u] = pixel.inside;
      if (pixel.inside) {
        const std::int64_t offset =
            plane + (static_cast<std::int64_t>(pixel.row) * dy.columns + pixel.column) * kBlock;
        raw_dy[u].load(dy, offset);
        raw_x[u].load(x, offset);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      const int p = begin + u * kThreadsOfTile;
      if (p < pixels) {
        float value[kBlock] = {};
        if (inside[u]) {
          float numbers[kBlock];
          raw_dy[u].floats(dy.format, value);
          raw_x[u].floats(x.format, numbers);
#pragma unroll
          for (int k = 0; k < kBlock; ++k) {
            const float z = numbers[k] * inner[k].s + inner[k].t;
            const float gated = z > 0 ? value[k] : slope * value[k];
            value[k] = gated * inner[k].s + (numbers[k] * outer[k].s + outer[k].t);
          }
        }
        put<kProducts>(tile, tile_block, pixels, p, value);
      }
    }
  }
}

template <Products kProducts>
__device__ __forceinline__ void load_general(const Recipe& recipe, const Pair* table,
                                             const TilePlace place, int block, std::byte* tile,
                                             int tile_block) {
  const int pixels = place.rows * place.columns;
#pragma unroll 1
  for (int p = threadIdx.x; p < pixels; p += kThreadsOfTile) {
    const TilePixel pixel = tile_pixel(place, recipe, p);
    float value[kBlock] = {};
    if (pixel.inside) {
      evaluate<kBlock>(recipe, table, {place.image, pixel.row, pixel.column}, block * kBlock,
                       nullptr, value);
    }
    put<kProducts>(tile, tile_block, pixels, p, value);
  }
}

/// Channel blocks [first, first + count) of a tile whose recipe has a form, with blocks as wide as
/// the factors. Outside the image everything is zero.
template <Products kProducts>
__device__ __forceinline__ void load_formed_tile(const Recipe& recipe, const Pair* table,
                                                 const TilePlace& place, int first, int count,
                                                 std::byte* tile) {
#pragma unroll 1
  for (int b = 0; b < count; ++b) {
    if (recipe.form == Form::normalized) {
      load_normalized<kProducts>(recipe, table, place, first + b, tile, b);
    } else {
      load_activated<kProducts>(recipe, table, place, first + b, tile, b);
    }
  }
}

/// The same for any recipe. It is a call: a copy of it would take the registers in which a kernel
/// keeps its sums.
template <Products kProducts>
__device__ __noinline__ void load_tile(const Recipe& recipe, const Pair* table,
                                       const TilePlace place, int first, int count,
                                       std::byte* tile) {
  if (has_formed_blocks(recipe, kProducts)) {
    load_formed_tile<kProducts>(recipe, table, place, first, count, tile);
    return;
  }
#pragma unroll 1
  for (int b = 0; b < count; ++b) {
    load_general<kProducts>(recipe, table, place, first + b, tile, b);
  }
}

/// Called by all threads of a block when its partial sums are in memory: the last block of a group
/// and column adds all up. `scratch` is 4 KB on the chip.
__device__ inline void finish_sums(const PixelSums& sums, const SumsGeometry& geometry, int slice,
                                   int column, double* scratch) {
  __shared__ bool is_last;
  const int slices_of_group = geometry.slices / sums.groups;
  const int group = slice / slices_of_group;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* const finished = sums.finished + group * geometry.columns + column;
    const unsigned blocks = static_cast<unsigned>(geometry.blocks * slices_of_group);
    is_last = atomicAdd(finished, 1U) + 1 == blocks;
    if (is_last) {
      *finished = 0;
    }
  }
  __syncthreads();
  if (!is_last) {
    return;
  }
  __threadfence();
  // Threads share the blocks of a sum, which are then joined in order.
  constexpr int kThreads = kThreadsOfTile;
  const int channels = geometry.channels;
  const int together = channels < kThreads ? channels : kThreads;
  const int parts = kThreads / together;
  const int part = threadIdx.x / together;
  for (int begin = 0; begin < channels; begin += together) {
    const int channel = begin + threadIdx.x % together;
    double uv = 0;
    double v = 0;
    if (part < parts && channel < channels) {
      for (int s = 0; s < slices_of_group; ++s) {
        const std::int64_t first =
            (static_cast<std::int64_t>(group * slices_of_group + s) * geometry.columns + column) *
            geometry.blocks;
        for (int block = part; block < geometry.blocks; block += parts) {
          const PartialSums* const from = sums.partials + (first + block) * channels + channel;
          uv += static_cast<double>(__ldcg(&from->uv));
          v += static_cast<double>(__ldcg(&from->v));
        }
      }
      scratch[2 * threadIdx.x] = uv;
      scratch[2 * threadIdx.x + 1] = v;
    }
    __syncthreads();
    if (part == 0 && channel < channels) {
      for (int other = 1; other < parts; ++other) {
        uv += scratch[2 * (threadIdx.x + other * together)];
        v += scratch[2 * (threadIdx.x + other * together) + 1];
      }
      sums.finish(group, column * channels + channel, uv, v);
    }
    __syncthreads();
  }
}

}  // namespace cosmic::target::cuda
