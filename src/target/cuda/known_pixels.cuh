// Values that are written, if they are formulas of stored images that are all in one format
// (pixel_works.hpp).
#pragma once

#include <type_traits>

#include "target/cuda/kernels/pixel_works.hpp"
#include "target/cuda/launch.hpp"
#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

inline constexpr int kPixelsUnderWay = 4;  ///< of a thread
/// Calls visit(std::integral_constant<Products, ...>) for the format of images.
template <class Visit>
CudaError with_format(Format format, const Visit& visit) {
  switch (format) {
    case Format::bf16:
      return visit(std::integral_constant<Products, Products::bf16>{});
    case Format::f16:
      return visit(std::integral_constant<Products, Products::f16>{});
    case Format::f32:
      break;
  }
  return visit(std::integral_constant<Products, Products::f32>{});
}

/// Writes a value: a block of threads has some pixels of a channel block of an image.
template <Products kFormat, int kImages, class Value>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    evaluate_known_kernel(const __grid_constant__ EvaluateBody body) {
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  const Recipe& recipe = body.value;
  const int image = blockIdx.y;
  const int block = blockIdx.z;
  fill_table(recipe, image / recipe.depth, table);
  __syncthreads();
  const Value value(recipe, table, block);
  const int pixels = recipe.rows * recipe.columns;
  const int begin = static_cast<int>(blockIdx.x) * kPixelsUnderWay * kThreadsOfTile +
                    static_cast<int>(threadIdx.x);
  RawBlock<kFormat> raw[kPixelsUnderWay][kImages];
#pragma unroll
  for (int u = 0; u < kPixelsUnderWay; ++u) {
    const int pixel = begin + u * kThreadsOfTile;
    if (pixel < pixels) {
#pragma unroll
      for (int k = 0; k < kImages; ++k) {
        raw[u][k].load(plane_of<kFormat>(recipe.leaf[k].image, image, block), pixel);
      }
    }
  }
#pragma unroll
  for (int w = 0; w < kBlock / 2; ++w) {
    const auto numbers = value.numbers(w);
#pragma unroll
    for (int u = 0; u < kPixelsUnderWay; ++u) {
      float2 pairs[kImages];
#pragma unroll
      for (int k = 0; k < kImages; ++k) {
        pairs[k] = raw[u][k].pair(w);
      }
      raw[u][0].set(w, value(numbers, pairs));
    }
  }
  std::byte* const plane = const_cast<std::byte*>(plane_of<kFormat>(body.out, image, block));
#pragma unroll
  for (int u = 0; u < kPixelsUnderWay; ++u) {
    const int pixel = begin + u * kThreadsOfTile;
    if (pixel < pixels) {
      raw[u][0].store(plane, pixel);
    }
  }
}

/// Calls visit(kernel) where there is one for this value, and `otherwise` where there is not.
template <class Visit, class Otherwise>
CudaError with_evaluate(const EvaluateBody& body, const Visit& visit, const Otherwise& otherwise) {
  const Recipe& recipe = body.value;
  const Formula& formula = recipe.formula;
  if (!is_stored_in(recipe, body.out.format) || recipe.pools() || body.out.lanes != kBlock ||
      body.out.images > kMostImages) {
    return otherwise();
  }
  return with_format(body.out.format, [&](auto format) -> CudaError {
    constexpr Products kFormat = decltype(format)::value;
    switch (formula.kind) {
      case Formula::Kind::none:
        break;
      case Formula::Kind::plain:
      case Formula::Kind::sum:
        return formula.is_long ? visit(evaluate_known_kernel<kFormat, 2, SumValue<true>>)
                               : visit(evaluate_known_kernel<kFormat, 1, SumValue<false>>);
      case Formula::Kind::gradient:
        return !formula.is_long ? visit(evaluate_known_kernel<kFormat, 2, GateValue>)
               : formula.c_is_b ? visit(evaluate_known_kernel<kFormat, 2, GradientValue>)
                                : visit(evaluate_known_kernel<kFormat, 3, GradientValue>);
    }
    return otherwise();
  });
}

}  // namespace cosmic::target::cuda
