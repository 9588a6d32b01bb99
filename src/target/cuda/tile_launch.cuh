#pragma once

#include <type_traits>

#include "target/cuda/conv_tile.cuh"
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
    case 6:
      return visit(std::integral_constant<int, 6>{});
    case 8:
      return visit(std::integral_constant<int, 8>{});
    default:
      return cudaErrorInvalidValue;
  }
}

/// Loads a kernel and lets it use as much of the chip's memory as there is.
template <class Kernel>
CudaError load_tile_kernel(Kernel* kernel) {
  constexpr int kMostSharedBytes = 99 * 1024;  // of the smallest cards that are supported
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              kMostSharedBytes);
}

template <Products kProducts>
CudaError launch_conv_tile(const ConvTile& work, Stream stream) {
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
    const ConvTileGeometry& g = work.geometry;
    const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                    static_cast<unsigned>(g.filter_groups));
    const auto bytes = static_cast<std::size_t>(g.shared_bytes);
    if (work.is_simple()) {
      conv_tile_kernel<kProducts, columns, true><<<grid, kThreadsOfTile, bytes, stream>>>(work);
    } else {
      conv_tile_kernel<kProducts, columns, false><<<grid, kThreadsOfTile, bytes, stream>>>(work);
    }
    return cudaGetLastError();
  });
}

template <Products kProducts>
CudaError load_conv_tile(const ConvTile& work) {
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
    return work.is_simple() ? load_tile_kernel(conv_tile_kernel<kProducts, columns, true>)
                            : load_tile_kernel(conv_tile_kernel<kProducts, columns, false>);
  });
}

template <Products kProducts>
CudaError launch_kernel_gradient(const KernelGradientTile& work, Stream stream) {
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
    const KernelGradientGeometry& g = work.geometry;
    const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                    static_cast<unsigned>(work.parts()));
    const auto bytes = static_cast<std::size_t>(kernel_gradient_memory(work).bytes);
    if (work.is_simple()) {
      kernel_gradient_kernel<kProducts, columns, true>
          <<<grid, kThreadsOfTile, bytes, stream>>>(work);
    } else {
      kernel_gradient_kernel<kProducts, columns, false>
          <<<grid, kThreadsOfTile, bytes, stream>>>(work);
    }
    return cudaGetLastError();
  });
}

template <Products kProducts>
CudaError load_kernel_gradient(const KernelGradientTile& work) {
  return with_filter_columns(work.geometry.filter_columns, [&](auto columns) -> CudaError {
    return work.is_simple() ? load_tile_kernel(kernel_gradient_kernel<kProducts, columns, true>)
                            : load_tile_kernel(kernel_gradient_kernel<kProducts, columns, false>);
  });
}

#define COSMIC_CUDA_DEFINE_PRODUCTS(products)                                         \
  template CudaError launch_conv_tile<products>(const ConvTile& work, Stream stream); \
  template CudaError load_conv_tile<products>(const ConvTile& work);                  \
  template CudaError launch_kernel_gradient<products>(const KernelGradientTile& work, \
                                                      Stream stream);                 \
  template CudaError load_kernel_gradient<products>(const KernelGradientTile& work);

}  // namespace cosmic::target::cuda
