// The gradient of a pooling by two (pixel_works.hpp), and sums over it: where it was activated,
// times an image. A window has but one pixel whose gradient is not zero, so they take few
// instructions and no bytes where the image is the one that was pooled.
#pragma once

#include "target/cuda/finish_pixel_sums.cuh"
#include "target/cuda/known_pixels.cuh"

namespace cosmic::target::cuda {

/// What is summed up along with the gradient.
enum class PoolSums : std::uint8_t {
  none,
  pooled,   ///< the image that was pooled, times the gradient where it was activated
  another,  ///< another image, times the same
};

inline PoolSums pool_sums_of(const MaxPoolGradientPixelsBody& body) {
  return !body.sums.wanted()     ? PoolSums::none
         : body.sums.u_gates_v() ? PoolSums::pooled
                                 : PoolSums::another;
}

/// A thread has some windows of 2 x 2 pixels of an image: dy goes to the first largest of them.
template <Products kFormat, PoolSums kSums>
__global__ void __launch_bounds__(kThreadsOfTile, kSums == PoolSums::another ? 2 : 3)
    max_pool_gradient_kernel(const __grid_constant__ MaxPoolGradientPixelsBody body) {
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  const Recipe& recipe = body.x;
  const int image = blockIdx.y;
  const int block = blockIdx.z;
  Pair* const gate_table = fill_table(recipe, image / recipe.depth, table);
  if constexpr (kSums != PoolSums::none) {
    fill_table(body.sums.v, image / recipe.depth, gate_table);
  }
  __syncthreads();
  const SumValue<false> value(recipe, table, block);
  const Pair* const gates =
      kSums == PoolSums::none ? nullptr : body.sums.v.pairs(gate_table, 0, block * kBlock);
  const float slope = body.sums.v.formula.slope[0];
  const int columns = body.dy.columns;
  const int windows = body.dy.rows * columns;
  const std::byte* const images = plane_of<kFormat>(recipe.leaf[0].image, image, block);
  const std::byte* const gradients = plane_of<kFormat>(body.dy, image, block);
  std::byte* const out = const_cast<std::byte*>(plane_of<kFormat>(body.dx, image, block));
  const std::byte* const others = kSums == PoolSums::another
                                      ? plane_of<kFormat>(body.sums.u.leaf[0].image, image, block)
                                      : nullptr;
  PartialSums sum[kBlock] = {};
#pragma unroll 1
  for (int k = 0; k < MaxPoolGradientPixelsBody::kWindowsOfThread; ++k) {
    const int window = static_cast<int>(blockIdx.x) * MaxPoolGradientPixelsBody::kWindowsOfBlock +
                       k * kThreadsOfTile + static_cast<int>(threadIdx.x);
    if (window >= windows) {
      break;
    }
    const int row = window / columns;
    const int first = 2 * row * body.dx.columns + 2 * (window - row * columns);
    const int pixel[4] = {first, first + 1, first + body.dx.columns, first + body.dx.columns + 1};
    RawBlock<kFormat> raw[4];
    RawBlock<kFormat> other[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      raw[i].load(images, pixel[i]);
      if constexpr (kSums == PoolSums::another) {
        other[i].load(others, pixel[i]);
      }
    }
    RawBlock<kFormat> dy;
    dy.load(gradients, window);
#pragma unroll
    for (int w = 0; w < kBlock / 2; ++w) {
      const auto numbers = value.numbers(w);
      const float2 gradient = dy.pair(w);
      float2 largest = value.term(numbers, raw[0].pair(w));
      float2 x = raw[0].pair(w);  // of the largest, as the image that was pooled has it
      float2 u = kSums == PoolSums::another ? other[0].pair(w) : float2{};
      int at_x = 0;
      int at_y = 0;
#pragma unroll
      for (int i = 1; i < 4; ++i) {
        const float2 next_x = raw[i].pair(w);
        const float2 next = value.term(numbers, next_x);
        const bool is_x = next.x > largest.x;
        const bool is_y = next.y > largest.y;
        at_x = is_x ? i : at_x;
        at_y = is_y ? i : at_y;
        largest = {is_x ? next.x : largest.x, is_y ? next.y : largest.y};
        x = {is_x ? next_x.x : x.x, is_y ? next_x.y : x.y};
        if constexpr (kSums == PoolSums::another) {
          const float2 next_u = other[i].pair(w);
          u = {is_x ? next_u.x : u.x, is_y ? next_u.y : u.y};
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        raw[i].set(w, {at_x == i ? gradient.x : 0.0F, at_y == i ? gradient.y : 0.0F});
      }
      if constexpr (kSums != PoolSums::none) {
        const float2 v = gated(gradient, x, pairs_at(gates, w), slope);
        if constexpr (kSums == PoolSums::pooled) {
          u = x;
        }
        sum[2 * w].uv += u.x * v.x;
        sum[2 * w].v += v.x;
        sum[2 * w + 1].uv += u.y * v.y;
        sum[2 * w + 1].v += v.y;
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      raw[i].store(out, pixel[i]);
    }
  }
  if constexpr (kSums != PoolSums::none) {
    __shared__ double scratch[2 * kThreadsOfTile];
    finish_pixel_sums(body.sums, body.sums_geometry, sum, scratch);
  }
}

template <class Visit, class Otherwise>
CudaError with_max_pool_gradient(const MaxPoolGradientPixelsBody& body, const Visit& visit,
                                 const Otherwise& otherwise) {
  if (!body.is_known()) {
    return otherwise();
  }
  return with_format(body.dx.format, [&](auto format) -> CudaError {
    constexpr Products kFormat = decltype(format)::value;
    switch (pool_sums_of(body)) {
      case PoolSums::none:
        break;
      case PoolSums::pooled:
        return visit(max_pool_gradient_kernel<kFormat, PoolSums::pooled>);
      case PoolSums::another:
        return visit(max_pool_gradient_kernel<kFormat, PoolSums::another>);
    }
    return visit(max_pool_gradient_kernel<kFormat, PoolSums::none>);
  });
}

}  // namespace cosmic::target::cuda
