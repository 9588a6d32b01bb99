// Work of pixel_works.hpp on formulas of stored images, all in one format: values that are written,
// and the gradient of a pooling by two.
#pragma once

#include <type_traits>

#include "target/cuda/kernels/pixel_works.hpp"
#include "target/cuda/launch.hpp"
#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

inline constexpr int kPixelsUnderWay = 4;  ///< of a thread
/// Depth slices included; each has blocks of its own along the second axis of a grid.
inline constexpr int kMostImages = 65535;

/// Are all leaves of a recipe stored images in blocks of this format?
inline bool is_stored_in(const Recipe& recipe, Format format) {
  for (int i = 0; i < recipe.leaves; ++i) {
    const Leaf& leaf = recipe.leaf[i];
    if (leaf.kind != Leaf::Kind::stored || leaf.image.format != format ||
        leaf.image.lanes != kBlock) {
      return false;
    }
  }
  return recipe.formula.kind != Formula::Kind::none;
}

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

/// A thread has a window of 2 x 2 pixels: dy goes to the first largest of them.
template <Products kFormat>
__global__ void __launch_bounds__(kThreadsOfTile, 3)
    max_pool_gradient_kernel(const __grid_constant__ MaxPoolGradientPixelsBody body) {
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  const Recipe& recipe = body.x;
  const int image = blockIdx.y;
  const int block = blockIdx.z;
  fill_table(recipe, image / recipe.depth, table);
  __syncthreads();
  const SumValue<false> value(recipe, table, block);
  const int columns = body.dy.columns;
  const int window = static_cast<int>(blockIdx.x) * kThreadsOfTile + static_cast<int>(threadIdx.x);
  if (window >= body.dy.rows * columns) {
    return;
  }
  const int row = window / columns;
  const int first = 2 * row * body.dx.columns + 2 * (window - row * columns);
  const int pixel[4] = {first, first + 1, first + body.dx.columns, first + body.dx.columns + 1};
  const std::byte* const images = plane_of<kFormat>(recipe.leaf[0].image, image, block);
  RawBlock<kFormat> raw[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    raw[k].load(images, pixel[k]);
  }
  RawBlock<kFormat> dy;
  dy.load(plane_of<kFormat>(body.dy, image, block), window);
#pragma unroll
  for (int w = 0; w < kBlock / 2; ++w) {
    const auto numbers = value.numbers(w);
    const float2 gradient = dy.pair(w);
    float2 largest = value.term(numbers, raw[0].pair(w));
    int at_x = 0;
    int at_y = 0;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
      const float2 next = value.term(numbers, raw[k].pair(w));
      at_x = next.x > largest.x ? k : at_x;
      at_y = next.y > largest.y ? k : at_y;
      largest = {next.x > largest.x ? next.x : largest.x, next.y > largest.y ? next.y : largest.y};
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      raw[k].set(w, {at_x == k ? gradient.x : 0.0F, at_y == k ? gradient.y : 0.0F});
    }
  }
  std::byte* const plane = const_cast<std::byte*>(plane_of<kFormat>(body.dx, image, block));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    raw[k].store(plane, pixel[k]);
  }
}

template <class Visit, class Otherwise>
CudaError with_max_pool_gradient(const MaxPoolGradientPixelsBody& body, const Visit& visit,
                                 const Otherwise& otherwise) {
  const Recipe& recipe = body.x;
  const Image& dx = body.dx;
  const bool known =
      is_stored_in(recipe, dx.format) && dx.lanes == kBlock && dx.images <= kMostImages &&
      recipe.depth == body.dy.depth && body.dy.format == dx.format && body.dy.lanes == kBlock &&
      (recipe.formula.kind == Formula::Kind::plain || recipe.formula.kind == Formula::Kind::sum) &&
      !recipe.formula.is_long && body.window.depth == 1 && body.window.rows == 2 &&
      body.window.columns == 2 && dx.rows == 2 * body.dy.rows && dx.columns == 2 * body.dy.columns;
  if (!known) {
    return otherwise();
  }
  return with_format(dx.format, [&](auto format) {
    return visit(max_pool_gradient_kernel<decltype(format)::value>);
  });
}

}  // namespace cosmic::target::cuda
