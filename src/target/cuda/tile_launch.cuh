#pragma once

#include <type_traits>

#include "target/cuda/conv_formula.cuh"
#include "target/cuda/kernel_gradient_tile.cuh"
#include "target/cuda/tile_launch.hpp"

namespace cosmic::target::cuda {

template <class Visit>
CudaError with_filter_columns(int columns, const Visit& visit) {
  switch (columns) {
    case 1:
      return visit(std::integral_constant<int, 1>{});
    case 2:
      return visit(std::integral_constant<int, 2>{});
    case 3:
      return visit(std::integral_constant<int, 3>{});
    case 4:
      return visit(std::integral_constant<int, 4>{});
    default:
      return cudaErrorInvalidValue;
  }
}

/// Loads a kernel and lets it use as much of the chip's memory as every card has.
template <class Kernel>
CudaError load_tile_kernel(Kernel* kernel) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              kMostSharedBytes);
}

// Likewise those of kernel gradients (conv_tile.hpp).
#define COSMIC_CUDA_COMMON_KERNEL_GRADIENTS(entry) entry(sum, gradient) entry(sum, plain)
#define COSMIC_CUDA_OTHER_KERNEL_GRADIENTS(entry)                                     \
  entry(sum, gradient3) entry(sum, gated) entry(sums, gradient) entry(sums, plain)    \
      entry(bilinear, gradient) entry(bilinear, plain) entry(bilinear_sums, gradient) \
          entry(bilinear_sums, plain) entry(pooled, gradient) entry(pooled, gated)    \
              entry(spread, gradient) entry(spread, gated)

template <Products kProducts>
inline constexpr bool kHasAllKernels = channels_per_unit(kProducts) == kBlock;

template <Products kProducts, class Visit>
CudaError with_conv_kernel(const ConvTile& work, const Visit& visit) {
  const ConvKernel kernel = kernel_of(work);
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
#define COSMIC_CUDA_IF(source_name, finish_name)                                         \
  if (kernel.source == Source::source_name && kernel.finish == Finish::finish_name) {    \
    constexpr int kMost = most_rows_of_warp(columns);                                    \
    constexpr int kFew = rows_of_warp(columns);                                          \
    if constexpr (knows_chunks(columns)) {                                               \
      if (work.geometry.chunks > 1) {                                                    \
        return visit(conv_formula_kernel<kProducts, columns, kMost, Source::source_name, \
                                         Finish::finish_name, true>);                    \
      }                                                                                  \
    }                                                                                    \
    if constexpr (kFew != kMost) {                                                       \
      if (work.geometry.warp_rows == kFew) {                                             \
        return visit(conv_formula_kernel<kProducts, columns, kFew, Source::source_name,  \
                                         Finish::finish_name, false>);                   \
      }                                                                                  \
    }                                                                                    \
    return visit(conv_formula_kernel<kProducts, columns, kMost, Source::source_name,     \
                                     Finish::finish_name, false>);                       \
  }
    COSMIC_CUDA_COMMON_CONV_KERNELS(COSMIC_CUDA_IF)
    if constexpr (kHasAllKernels<kProducts>) {
      COSMIC_CUDA_OTHER_CONV_KERNELS(COSMIC_CUDA_IF)
    }
#undef COSMIC_CUDA_IF
    return visit(conv_tile_kernel<kProducts, columns>);
  });
}

template <Products kProducts, class Visit>
CudaError with_kernel_gradient(const KernelGradientTile& work, const Visit& visit) {
  const Source image = image_source_of(work.image, kProducts);
  const Source dy = source_of(work.dy, kProducts);
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
#define COSMIC_CUDA_IF(image_name, dy_name)                                                      \
  if (image == Source::image_name && dy == Source::dy_name) {                                    \
    if constexpr (kProducts == Products::bf16 &&                                                 \
                  knows_rows(columns, Source::image_name, Source::dy_name)) {                    \
      if (work.geometry.by_rows) {                                                               \
        return visit(kernel_gradient_kernel<kProducts, columns, Source::image_name,              \
                                            Source::dy_name, true>);                             \
      }                                                                                          \
    }                                                                                            \
    return visit(                                                                                \
        kernel_gradient_kernel<kProducts, columns, Source::image_name, Source::dy_name, false>); \
  }
    COSMIC_CUDA_COMMON_KERNEL_GRADIENTS(COSMIC_CUDA_IF)
    if constexpr (kHasAllKernels<kProducts>) {
      COSMIC_CUDA_OTHER_KERNEL_GRADIENTS(COSMIC_CUDA_IF)
    }
#undef COSMIC_CUDA_IF
    return visit(kernel_gradient_kernel<kProducts, columns, Source::interpreted,
                                        Source::interpreted, false>);
  });
}

template <Products kProducts>
CudaError launch_conv_tile(const ConvTile& work, Stream stream) {
  return with_conv_kernel<kProducts>(work, [&](auto* kernel) -> CudaError {
    const ConvTileGeometry& g = work.geometry;
    const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                    static_cast<unsigned>(g.filter_groups));
    start(kernel, grid, kThreadsOfTile, static_cast<std::size_t>(g.shared_bytes), stream, work);
    return cudaGetLastError();
  });
}

template <Products kProducts>
CudaError load_conv_tile(const ConvTile& work) {
  return with_conv_kernel<kProducts>(work, [](auto* kernel) { return load_tile_kernel(kernel); });
}

template <Products kProducts>
CudaError launch_kernel_gradient(const KernelGradientTile& work, Stream stream) {
  return with_kernel_gradient<kProducts>(work, [&](auto* kernel) -> CudaError {
    const KernelGradientGeometry& g = work.geometry;
    const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                    static_cast<unsigned>(work.parts()));
    const auto bytes = static_cast<std::size_t>(kernel_gradient_memory(work).bytes);
    start(kernel, grid, kThreadsOfTile, bytes, stream, work);
    return cudaGetLastError();
  });
}

template <Products kProducts>
CudaError load_kernel_gradient(const KernelGradientTile& work) {
  return with_kernel_gradient<kProducts>(work,
                                         [](auto* kernel) { return load_tile_kernel(kernel); });
}

#define COSMIC_CUDA_DEFINE_PRODUCTS(products)                                         \
  template CudaError launch_conv_tile<products>(const ConvTile& work, Stream stream); \
  template CudaError load_conv_tile<products>(const ConvTile& work);                  \
  template CudaError launch_kernel_gradient<products>(const KernelGradientTile& work, \
                                                      Stream stream);                 \
  template CudaError load_kernel_gradient<products>(const KernelGradientTile& work);

}  // namespace cosmic::target::cuda
