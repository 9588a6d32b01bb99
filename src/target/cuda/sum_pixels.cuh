// Sums over the pixels of images that no other kernel takes along. A block of threads has a run of
// pixels of one channel block, a vector of 8 channels a thread.
#pragma once

#include "target/cuda/finish_pixel_sums.cuh"
#include "target/cuda/known_pixels.cuh"
#include "target/cuda/upsampled_quads.cuh"

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
  finish_pixel_sums(work.sums, work.geometry, sum, scratch);
}

/// Four pixels of a thread are on their way at once.
template <Products kFormat, Summed kSummed>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    sum_known_pixels_kernel(const __grid_constant__ SumPixels work) {
  constexpr bool kGates = kSummed == Summed::gated || kSummed == Summed::apart;
  constexpr int kImages = kSummed == Summed::stored ? 1 : kSummed == Summed::apart ? 3 : 2;
  constexpr int kUnderWay = kImages > 2 ? 2 : 4;
  COSMIC_CHIP_MEMORY(chip);
  __shared__ double scratch[2 * kThreadsOfTile];
  const Recipe& recipe = work.sums.v;
  const int first_image = static_cast<int>(blockIdx.y * work.images);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  fill_table(recipe, first_image / recipe.depth, table);
  __syncthreads();
  const int block = blockIdx.z;
  const int pixels = recipe.rows * recipe.columns;
  const std::int64_t items = work.images * pixels;
  const std::int64_t share = (items + work.geometry.blocks - 1) / work.geometry.blocks;
  const std::int64_t begin = share * blockIdx.x;
  const std::int64_t end = min(items, begin + share);
  // The next pixel of this thread. It is counted on, as divisions would take longer than the sums.
  const Division first = divide(begin + threadIdx.x, pixels);
  std::int64_t image = first_image + first.whole;
  auto pixel = static_cast<int>(first.rest);
  const Pair* const gates = recipe.pairs(table, 0, block * kBlock);
  const float slope = recipe.formula.slope[0];
  PartialSums sum[kBlock] = {};
#pragma unroll 1
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kUnderWay * kThreadsOfTile) {
    RawBlock<kFormat> raw[kUnderWay][kImages];
    bool inside[kUnderWay];
#pragma unroll
    for (int u = 0; u < kUnderWay; ++u) {
      inside[u] = i + u * kThreadsOfTile < end;
      if (inside[u]) {
        // What v is made of, then u if it is not among it.
#pragma unroll
        for (int k = 0; k < kImages; ++k) {
          const bool is_u = kSummed == Summed::products ? k == 1 : k == 2;
          const Image& from = is_u ? work.sums.u.leaf[0].image : recipe.leaf[k].image;
          raw[u][k].load(plane_of<kFormat>(from, image, block), pixel);
        }
      }
      pixel += kThreadsOfTile;
      while (pixel >= pixels) {
        pixel -= pixels;
        ++image;
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
          v = gated(v, x, gate, slope);
          if constexpr (kSummed == Summed::apart) {
            x = raw[u][2].pair(w);
          }
        } else if constexpr (kSummed == Summed::products) {
          x = raw[u][1].pair(w);
        }
        sum[2 * w].uv += x.x * v.x;
        sum[2 * w].v += v.x;
        sum[2 * w + 1].uv += x.y * v.y;
        sum[2 * w + 1].v += v.y;
      }
    }
  }
  finish_pixel_sums(work.sums, work.geometry, sum, scratch);
}

/// Of an image that is stored in half the size: warps share the rows of quads of all strips of 32
/// columns of quads, each some that follow each other.
template <Products kFormat>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    sum_upsampled_kernel(const __grid_constant__ SumPixels work) {
  __shared__ double scratch[2 * kThreadsOfTile];
  const Image& small = work.sums.v.leaf[0].image;
  const int block = blockIdx.z;
  const int quads = small.rows + 1;  // down a strip
  const int strips = ceil_of(small.columns + 1, 32);
  const int rows = static_cast<int>(work.images) * strips * quads;
  const int share = ceil_of(rows, work.geometry.blocks * kWarpsOfTile);
  const int begin = (static_cast<int>(blockIdx.x) * kWarpsOfTile + threadIdx.x / 32) * share;
  const int end = min(rows, begin + share);
  int q = begin % quads;
  int strip = begin / quads;  // of all images
  int column = 0;
  QuadColumn<kFormat> upsampled;
  PartialSums sum[kBlock] = {};
#pragma unroll 1
  for (int i = begin; i < end; ++i) {
    if (i == begin || q == 0) {
      const std::int64_t image = blockIdx.y * work.images + strip / strips;
      column = strip % strips * 32 + threadIdx.x % 32;
      upsampled = QuadColumn<kFormat>(small, plane_of<kFormat>(small, image, block), column);
      upsampled.begin(upsampled.row(q - 1));
    }
    const typename QuadColumn<kFormat>::Row below = upsampled.row(q);
    const bool inside_rows[2] = {q > 0, q < small.rows};
    const bool inside_columns[2] = {column > 0 && column <= small.columns, column < small.columns};
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      float2 x[4];
      upsampled.pixels(below, w, x);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const bool inside = inside_rows[k / 2] && inside_columns[k % 2];
        const float2 v = {inside ? x[k].x : 0.0F, inside ? x[k].y : 0.0F};
        sum[2 * w].uv += v.x * v.x;
        sum[2 * w].v += v.x;
        sum[2 * w + 1].uv += v.y * v.y;
        sum[2 * w + 1].v += v.y;
      }
    }
    if (++q == quads) {
      q = 0;
      ++strip;
    }
  }
  finish_pixel_sums(work.sums, work.geometry, sum, scratch);
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
        return visit(sum_upsampled_kernel<decltype(format)::value>);
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
