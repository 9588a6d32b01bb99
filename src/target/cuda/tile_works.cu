#include <type_traits>

#include "target/cuda/launch.cuh"
#include "target/cuda/sum_pixels.cuh"
#include "target/cuda/tile_launch.hpp"

namespace cosmic::target::cuda {

CudaError launch_kernels(const ConvTile& work, Stream stream) {
  switch (work.products) {
    case Products::bf16:
      return launch_conv_tile<Products::bf16>(work, stream);
    case Products::f16:
      return launch_conv_tile<Products::f16>(work, stream);
    case Products::tf32:
      return launch_conv_tile<Products::tf32>(work, stream);
    case Products::f32:
      break;
  }
  return launch_conv_tile<Products::f32>(work, stream);
}
CudaError load_kernels(const ConvTile& work) {
  switch (work.products) {
    case Products::bf16:
      return load_conv_tile<Products::bf16>(work);
    case Products::f16:
      return load_conv_tile<Products::f16>(work);
    case Products::tf32:
      return load_conv_tile<Products::tf32>(work);
    case Products::f32:
      break;
  }
  return load_conv_tile<Products::f32>(work);
}

CudaError launch_kernels(const KernelGradientTile& work, Stream stream) {
  switch (work.products) {
    case Products::bf16:
      return launch_kernel_gradient<Products::bf16>(work, stream);
    case Products::f16:
      return launch_kernel_gradient<Products::f16>(work, stream);
    case Products::tf32:
      return launch_kernel_gradient<Products::tf32>(work, stream);
    case Products::f32:
      break;
  }
  return launch_kernel_gradient<Products::f32>(work, stream);
}
CudaError load_kernels(const KernelGradientTile& work) {
  switch (work.products) {
    case Products::bf16:
      return load_kernel_gradient<Products::bf16>(work);
    case Products::f16:
      return load_kernel_gradient<Products::f16>(work);
    case Products::tf32:
      return load_kernel_gradient<Products::tf32>(work);
    case Products::f32:
      break;
  }
  return load_kernel_gradient<Products::f32>(work);
}

/// Where there are few terms, a thread has a number; else a block has 32 neighbouring ones, and 8
/// warps share the terms, which are joined in their order.
__global__ void __launch_bounds__(kThreadsOfTile)
    join_kernel_gradient(const __grid_constant__ JoinKernelGradient work) {
  __shared__ double of_warps[kWarpsOfTile][32];
  if (work.has_few_terms()) {
    const std::int64_t output =
        static_cast<std::int64_t>(blockIdx.x) * work.outputs_of_block() + threadIdx.x;
    if (output < work.outputs()) {
      work.finish(output, work.sum(output));
    }
    return;
  }
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const std::int64_t output = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  double sum = 0;
  for (int i = warp; i < work.terms(); i += kWarpsOfTile) {
    sum += static_cast<double>(work.term(output, i));
  }
  of_warps[warp][lane] = sum;
  __syncthreads();
  if (warp == 0) {
    for (int w = 1; w < kWarpsOfTile; ++w) {
      sum += of_warps[w][lane];
    }
    work.finish(output, sum);
  }
}

CudaError launch_kernels(const JoinKernelGradient& work, Stream stream) {
  const std::int64_t each = work.outputs_of_block();
  start(join_kernel_gradient, static_cast<unsigned>((work.outputs() + each - 1) / each),
        kThreadsOfTile, 0, stream, work);
  return cudaGetLastError();
}
CudaError load_kernels(const JoinKernelGradient&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, join_kernel_gradient);
}

CudaError launch_kernels(const SumPixels& work, Stream stream) {
  const SumsGeometry& g = work.geometry;
  const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                  static_cast<unsigned>(g.columns));
  const int pairs = work.sums.u.table_pairs() + work.sums.v.table_pairs();
  return with_sum_pixels(work, [&](auto* kernel) -> CudaError {
    start(kernel, grid, kThreadsOfTile, static_cast<std::size_t>(pairs) * sizeof(Pair), stream,
          work);
    return cudaGetLastError();
  });
}
CudaError load_kernels(const SumPixels& work) {
  return with_sum_pixels(work, [](auto* kernel) -> CudaError {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, kernel);
  });
}

COSMIC_CUDA_TILE_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
