// The plain kernels: a thread per element, and sums in two stages. Those of tensor cores are
// started in tile_works.cu, those on vectors of channels in image_works.cu.
#pragma once

#include "target/cuda/instructions.cuh"
#include "target/cuda/launch.hpp"
#include "target/cuda/launch_geometry.hpp"
#include "target/cuda/work.hpp"

namespace cosmic::target::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kWarpsPerBlock = kThreadsPerBlock / kWarp;

template <class Body>
__global__ void __launch_bounds__(kThreadsPerBlock) map_kernel(const Map<Body> work) {
  if (work.guard != nullptr && !is_finite(*work.guard)) {
    return;
  }
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreadsPerBlock + threadIdx.x;
  if (i < work.elements) {
    work.body(i);
  }
}

/// Joins the sums of the threads of a block; thread 0 has them afterwards.
template <int kSums>
__device__ void join_threads(double (&sums)[kSums]) {
  __shared__ double of_warps[kSums][kWarpsPerBlock];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
#pragma unroll
  for (int k = 0; k < kSums; ++k) {
    double sum = sums[k];
#pragma unroll
    for (int apart = kWarp / 2; apart > 0; apart /= 2) {
      sum += __shfl_down_sync(0xffffffffU, sum, apart);
    }
    if (lane == 0) {
      of_warps[k][warp] = sum;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      double sum = of_warps[k][0];
      for (int w = 1; w < kWarpsPerBlock; ++w) {
        sum += of_warps[k][w];
      }
      sums[k] = sum;
    }
  }
}

/// Chunk number `block`, by a block of threads.
template <class Body>
__device__ void sum_chunk(const Reduction<Body>& work, const ReductionGeometry& geometry,
                          std::int64_t block) {
  const std::int64_t output = block / geometry.chunks;
  const std::int64_t chunk = block - output * geometry.chunks;
  const std::int64_t begin = chunk * geometry.terms_per_chunk;
  const std::int64_t end = min(begin + geometry.terms_per_chunk, work.terms);
  const auto context = work.body.at(output);
  double sums[Body::kSums] = {};
  std::int64_t term = begin + threadIdx.x;
  while (term < end) {
    float part[Body::kSums] = {};
    for (std::int64_t k = 0; k < kTermsPerSum && term < end; ++k, term += kThreadsPerBlock) {
      work.body.add(context, term, part);
    }
#pragma unroll
    for (int k = 0; k < Body::kSums; ++k) {
      sums[k] += static_cast<double>(part[k]);
    }
  }
  join_threads(sums);
  if (threadIdx.x != 0) {
    return;
  }
  if (geometry.chunks == 1) {
    work.body.finish(output, sums);
    return;
  }
#pragma unroll
  for (int k = 0; k < Body::kSums; ++k) {
    work.partials[block * Body::kSums + k] = sums[k];
  }
}

/// All chunks of an output, by a block of threads.
template <class Body>
__device__ void join_chunks_of(const Reduction<Body>& work, const ReductionGeometry& geometry,
                               std::int64_t output) {
  double sums[Body::kSums] = {};
  for (std::int64_t chunk = threadIdx.x; chunk < geometry.chunks; chunk += kThreadsPerBlock) {
#pragma unroll
    for (int k = 0; k < Body::kSums; ++k) {
      sums[k] += work.partials[(output * geometry.chunks + chunk) * Body::kSums + k];
    }
  }
  join_threads(sums);
  if (threadIdx.x == 0) {
    work.body.finish(output, sums);
  }
}

/// A block per chunk of an output.
template <class Body>
__global__ void __launch_bounds__(kThreadsPerBlock)
    sum_chunks(const __grid_constant__ Reduction<Body> work, const ReductionGeometry geometry) {
  sum_chunk(work, geometry, blockIdx.x);
}

/// A block per output.
template <class Body>
__global__ void __launch_bounds__(kThreadsPerBlock)
    join_chunks(const __grid_constant__ Reduction<Body> work, const ReductionGeometry geometry) {
  join_chunks_of(work, geometry, blockIdx.x);
}

template <class Body>
CudaError launch_kernels(const Map<Body>& work, Stream stream) {
  if (work.elements > 0) {
    start(map_kernel<Body>, static_cast<unsigned>(blocks_for(work.elements)), kThreadsPerBlock, 0,
          stream, work);
  }
  return cudaGetLastError();
}

template <class Body>
CudaError launch_kernels(const Reduction<Body>& work, Stream stream) {
  if (work.outputs > 0) {
    const ReductionGeometry geometry = reduction_geometry(work.outputs, work.terms);
    start(sum_chunks<Body>, static_cast<unsigned>(work.outputs * geometry.chunks), kThreadsPerBlock,
          0, stream, work, geometry);
    if (geometry.chunks > 1) {
      start(join_chunks<Body>, static_cast<unsigned>(work.outputs), kThreadsPerBlock, 0, stream,
            work, geometry);
    }
  }
  return cudaGetLastError();
}

template <class Body>
CudaError load_kernels(const Map<Body>&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, map_kernel<Body>);
}

template <class Body>
CudaError load_kernels(const Reduction<Body>&) {
  cudaFuncAttributes attributes;
  const CudaError first = cudaFuncGetAttributes(&attributes, sum_chunks<Body>);
  return first != cudaSuccess ? first : cudaFuncGetAttributes(&attributes, join_chunks<Body>);
}

// Defined where they are used.
CudaError launch_kernels(const Joined& work, Stream stream);
CudaError load_kernels(const Joined& work);
CudaError launch_kernels(const Map<ArrangeBody>& work, Stream stream);
CudaError load_kernels(const Map<ArrangeBody>& work);
CudaError launch_kernels(const ConvTile& work, Stream stream);
CudaError load_kernels(const ConvTile& work);
CudaError launch_kernels(const KernelGradientTile& work, Stream stream);
CudaError load_kernels(const KernelGradientTile& work);
CudaError launch_kernels(const JoinKernelGradient& work, Stream stream);
CudaError load_kernels(const JoinKernelGradient& work);
CudaError launch_kernels(const SumPixels& work, Stream stream);
CudaError load_kernels(const SumPixels& work);
template <class Body>
CudaError launch_kernels(const PixelMap<Body>& work, Stream stream);
template <class Body>
CudaError load_kernels(const PixelMap<Body>& work);

template <class Kind>
CudaError launch(const Kind& work, Stream stream) {
  return launch_kernels(work, stream);
}

template <class Kind>
CudaError load(const Kind& work) {
  return load_kernels(work);
}

#define COSMIC_CUDA_DEFINE(...)                                      \
  template CudaError launch(const __VA_ARGS__& work, Stream stream); \
  template CudaError load(const __VA_ARGS__& work);

}  // namespace cosmic::target::cuda
