// Sums over the pixels of images that no other kernel takes along. A block of threads has a run of
// pixels of one channel block, a vector of 8 channels a thread.
#pragma once

#include "target/cuda/known_pixels.cuh"

namespace cosmic::target::cuda {

/// What is summed up, by how it is read. All but the first have kernels of their own.
enum class Summed : std::uint8_t {
  interpreted,
  stored,     ///< an image as it is
  upsampled,  ///< one that is stored in half the size
  products,   ///< an image, times another
  gated,      ///< an image, times a gradient where the image was activated
  apart,      ///< an image, times a gradient where another image was activated
};

inline Summed summed_of(const PixelSums& sums) {
  const Format format = sums.v.leaf[0].image.format;
  const auto is_known = [&](const Recipe& recipe) {
    for (int i = 0; i < recipe.leaves; ++i) {
      const Leaf& leaf = recipe.leaf[i];
      if (leaf.image.format != format || leaf.image.lanes != kBlock ||
          leaf.kind != Leaf::Kind::stored) {
        return false;
      }
    }
    return recipe.formula.kind != Formula::Kind::none && !recipe.pools();
  };
  if (!sums.u.exists() && sums.v.formula.kind == Formula::Kind::plain && !sums.v.pools()) {
    const Leaf& leaf = sums.v.leaf[0];
    return leaf.image.lanes != kBlock          ? Summed::interpreted
           : leaf.kind == Leaf::Kind::bilinear ? Summed::upsampled
           : leaf.kind == Leaf::Kind::stored   ? Summed::stored
                                               : Summed::interpreted;
  }
  if (!sums.u.exists() || !is_known(sums.v) || !is_known(sums.u) ||
      sums.u.formula.kind != Formula::Kind::plain) {
    return Summed::interpreted;
  }
  if (sums.v.formula.kind == Formula::Kind::plain) {
    return Summed::products;
  }
  return sums.u_gates_v()      ? Summed::gated
         : sums.gates_result() ? Summed::apart
                               : Summed::interpreted;
}

/// Joins the sums of the threads of a block, and of the blocks if it is the last.
__device__ inline void finish_pixel_sums(const SumPixels& work, PartialSums (&sum)[kBlock],
                                         double* scratch) {
  __shared__ PartialSums of_warps[kWarpsOfTile][kBlock];
  const int block = blockIdx.z;
#pragma unroll
  for (int k = 0; k < kBlock; ++k) {
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      sum[k].uv += __shfl_xor_sync(0xffffffffU, sum[k].uv, apart);
      sum[k].v += __shfl_xor_sync(0xffffffffU, sum[k].v, apart);
    }
    if (threadIdx.x % 32 == 0) {
      of_warps[threadIdx.x / 32][k] = sum[k];
    }
  }
  __syncthreads();
  if (threadIdx.x < kBlock) {
    PartialSums total{0, 0};
    for (int w = 0; w < kWarpsOfTile; ++w) {
      total.uv += of_warps[w][threadIdx.x].uv;
      total.v += of_warps[w][threadIdx.x].v;
    }
    const std::int64_t at =
        (static_cast<std::int64_t>(blockIdx.y) * work.geometry.columns + block) *
            work.geometry.blocks +
        blockIdx.x;
    work.sums.partials[at * kBlock + threadIdx.x] = total;
  }
  finish_sums(work.sums, work.geometry, blockIdx.y, block, scratch);
}

__global__ void __launch_bounds__(kThreadsOfTile)
    sum_pixels_kernel(const __grid_constant__ SumPixels work) {
  COSMIC_CHIP_MEMORY(chip);
  __shared__ double scratch[2 * kThreadsOfTile];
  const PixelSums& sums = work.sums;
  const int event = static_cast<int>(blockIdx.y * work.images / sums.v.depth);
  Pair* const v_table = reinterpret_cast<Pair*>(chip);
  Pair* const u_table = fill_table(sums.v, event, v_table);
  fill_table(sums.u, event, u_table);
  __syncthreads();
  const int block = blockIdx.z;
  const std::int64_t pixels = static_cast<std::int64_t>(sums.v.rows) * sums.v.columns;
  const std::int64_t items = work.images * pixels;
  const std::int64_t share = (items + work.geometry.blocks - 1) / work.geometry.blocks;
  const std::int64_t begin = share * blockIdx.x;
  const std::int64_t end = min(items, begin + share);
  PartialSums sum[kBlock] = {};
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreadsOfTile) {
    const Division image = divide(i, pixels);
    const Division row = divide(image.rest, sums.v.columns);
    const Place at{blockIdx.y * work.images + image.whole, static_cast<int>(row.whole),
                   static_cast<int>(row.rest)};
    float v[kBlock];
    evaluate<kBlock>(sums.v, v_table, at, block * kBlock, nullptr, v);
    float u[kBlock];
    if (sums.u.exists()) {
      evaluate<kBlock>(sums.u, u_table, at, block * kBlock, nullptr, u);
    } else {
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        u[k] = v[k];
      }
    }
#pragma unroll
    for (int k = 0; k < kBlock; ++k) {
      sum[k].uv += u[k] * v[k];
      sum[k].v += v[k];
    }
  }
  finish_pixel_sums(work, sum, scratch);
}

/// Four pixels of a thread are on their way at once.
template <Products kFormat, Summed kSummed>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    sum_known_pixels_kernel(const __grid_constant__ SumPixels work) {
  constexpr bool kGates = kSummed == Summed::gated || kSummed == Summed::apart;
  constexpr int kImages = kSummed == Summed::stored      ? 1
                          : kSummed == Summed::upsampled ? 4
                          : kSummed == Summed::apart     ? 3
                                                         : 2;
  constexpr int kUnderWay = kImages > 2 ? 2 : 4;
  COSMIC_CHIP_MEMORY(chip);
  __shared__ double scratch[2 * kThreadsOfTile];
  const Recipe& recipe = work.sums.v;
  const int first_image = static_cast<int>(blockIdx.y * work.images);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  fill_table(recipe, first_image / recipe.depth, table);
  __syncthreads();
  const int block = blockIdx.z;
  const auto pixels = static_cast<unsigned>(recipe.rows) * static_cast<unsigned>(recipe.columns);
  const std::int64_t items = work.images * pixels;
  const std::int64_t share = (items + work.geometry.blocks - 1) / work.geometry.blocks;
  const std::int64_t begin = share * blockIdx.x;
  const std::int64_t end = min(items, begin + share);
  const Pair* const gates = recipe.pairs(table, 0, block * kBlock);
  const float slope = recipe.formula.slope[0];
  PartialSums sum[kBlock] = {};
#pragma unroll 1
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kUnderWay * kThreadsOfTile) {
    RawBlock<kFormat> raw[kUnderWay][kImages];
    BilinearTaps rows[kUnderWay];
    BilinearTaps columns[kUnderWay];
    bool inside[kUnderWay];
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      const std::int64_t item = i + u * kThreadsOfTile;
      inside[u] = item < end;
      if (inside[u]) {
        const Division at = divide(item, pixels);
        const std::int64_t image = first_image + at.whole;
        const auto pixel = static_cast<int>(at.rest);
        if constexpr (kSummed == Summed::upsampled) {
          const Image& small = recipe.leaf[0].image;
          const std::byte* const plane = plane_of<kFormat>(small, image, block);
          rows[u] = taps_of(pixel / recipe.columns, small.rows);
          columns[u] = taps_of(pixel % recipe.columns, small.columns);
          raw[u][0].load(plane, rows[u].low * small.columns + columns[u].low);
          raw[u][1].load(plane, rows[u].low * small.columns + columns[u].high);
          raw[u][2].load(plane, rows[u].high * small.columns + columns[u].low);
          raw[u][3].load(plane, rows[u].high * small.columns + columns[u].high);
        } else {
          // What v is made of, then u if it is not among it.
#pragma unroll
          for (int k = 0; k < kImages; ++k) {
            const bool is_u = kSummed == Summed::products ? k == 1 : k == 2;
            const Image& from = is_u ? work.sums.u.leaf[0].image : recipe.leaf[k].image;
            raw[u][k].load(plane_of<kFormat>(from, image, block), pixel);
          }
        }
      }
    }
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      PairOfPairs gate{};
      if constexpr (kGates) {
        gate = pairs_at(gates, w);
      }
#pragma unroll
      for (int u = 0; u < kUnderWay; ++u) {
        if (!inside[u]) {
          continue;
        }
        float2 v = raw[u][0].pair(w);
        float2 x = v;
        if constexpr (kGates) {
          x = raw[u][1].pair(w);
          v = {x.x * gate.x.s + gate.x.t > 0 ? v.x : slope * v.x,
               x.y * gate.y.s + gate.y.t > 0 ? v.y : slope * v.y};
          if constexpr (kSummed == Summed::apart) {
            x = raw[u][2].pair(w);
          }
        } else if constexpr (kSummed == Summed::products) {
          x = raw[u][1].pair(w);
        } else if constexpr (kSummed == Summed::upsampled) {
          const float2 b = raw[u][1].pair(w);
          const float2 c = raw[u][2].pair(w);
          const float2 d = raw[u][3].pair(w);
          v = {between(v.x, b.x, c.x, d.x, rows[u].beyond, columns[u].beyond),
               between(v.y, b.y, c.y, d.y, rows[u].beyond, columns[u].beyond)};
          x = v;
        }
        sum[2 * w].uv += x.x * v.x;
        sum[2 * w].v += v.x;
        sum[2 * w + 1].uv += x.y * v.y;
        sum[2 * w + 1].v += v.y;
      }
    }
  }
  finish_pixel_sums(work, sum, scratch);
}

template <class Visit>
CudaError with_sum_pixels(const SumPixels& work, const Visit& visit) {
  return with_format(work.sums.v.leaf[0].image.format, [&](auto format) -> CudaError {
    switch (summed_of(work.sums)) {
      case Summed::interpreted:
        break;
      case Summed::stored:
        return visit(sum_known_pixels_kernel<decltype(format)::value, Summed::stored>);
      case Summed::upsampled:
        return visit(sum_known_pixels_kernel<decltype(format)::value, Summed::upsampled>);
      case Summed::products:
        return visit(sum_known_pixels_kernel<decltype(format)::value, Summed::products>);
      case Summed::gated:
        return visit(sum_known_pixels_kernel<decltype(format)::value, Summed::gated>);
      case Summed::apart:
        return visit(sum_known_pixels_kernel<decltype(format)::value, Summed::apart>);
    }
    return visit(sum_pixels_kernel);
  });
}

}  // namespace cosmic::target::cuda
