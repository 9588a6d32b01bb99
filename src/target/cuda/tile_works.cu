#include "target/cuda/launch.cuh"
#include "target/cuda/tile_launch.hpp"
#include "target/cuda/tiles.cuh"

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

/// 32 neighbouring numbers a block; 8 warps share the terms, which are joined in their order.
__global__ void __launch_bounds__(kThreadsOfTile)
    join_kernel_gradient(const __grid_constant__ JoinKernelGradient work) {
  __shared__ double of_warps[kWarpsOfTile][32];
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
  join_kernel_gradient<<<static_cast<unsigned>(work.outputs() / 32), kThreadsOfTile, 0, stream>>>(
      work);
  return cudaGetLastError();
}
CudaError load_kernels(const JoinKernelGradient&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, join_kernel_gradient);
}

/// A block of threads has a run of pixels of one channel block.
__global__ void __launch_bounds__(kThreadsOfTile)
    sum_pixels_kernel(const __grid_constant__ SumPixels work) {
  extern __shared__ __align__(128) std::byte chip[];
  __shared__ PartialSums of_warps[kWarpsOfTile][kBlock];
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
    sums.partials[at * kBlock + threadIdx.x] = total;
  }
  finish_sums(sums, work.geometry, blockIdx.y, block, scratch);
}

CudaError launch_kernels(const SumPixels& work, Stream stream) {
  const SumsGeometry& g = work.geometry;
  const dim3 grid(static_cast<unsigned>(g.blocks), static_cast<unsigned>(g.slices),
                  static_cast<unsigned>(g.columns));
  const int pairs = work.sums.u.table_pairs() + work.sums.v.table_pairs();
  sum_pixels_kernel<<<grid, kThreadsOfTile, static_cast<std::size_t>(pairs) * sizeof(Pair),
                      stream>>>(work);
  return cudaGetLastError();
}
CudaError load_kernels(const SumPixels&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, sum_pixels_kernel);
}

COSMIC_CUDA_TILE_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
