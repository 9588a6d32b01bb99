// The end of kernels that sum up pixels of one channel block.
#pragma once

#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

/// Joins the sums of the threads of a block, and of the blocks if it is the last. Blocks are
/// counted along the first axis of the grid, slices along the second and channel blocks along the
/// third.
__device__ inline void finish_pixel_sums(const PixelSums& sums, const SumsGeometry& geometry,
                                         PartialSums (&sum)[kBlock], double* scratch) {
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
        (static_cast<std::int64_t>(blockIdx.y) * geometry.columns + block) * geometry.blocks +
        blockIdx.x;
    sums.partials[at * kBlock + threadIdx.x] = total;
  }
  finish_sums(sums, geometry, blockIdx.y, block, scratch);
}

}  // namespace cosmic::target::cuda
