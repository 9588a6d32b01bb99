#include "target/cuda/joined_works.hpp"

#include "target/cuda/launch.cuh"

namespace cosmic::target::cuda {
namespace {

template <class Body>
__device__ void do_part(const JoinedEntry& entry, const Map<Body>& work, std::int64_t part) {
  if (work.guard != nullptr && !is_finite(*work.guard)) {
    return;
  }
  const std::int64_t begin = part * entry.per_part;
  const std::int64_t end = min(begin + entry.per_part, work.elements);
  const std::int64_t first = begin + threadIdx.x;
  if (first >= end) {
    return;
  }
  if constexpr (requires { work.body.context(); }) {
    const auto context = work.body.context();
    for (std::int64_t i = first; i < end; i += kThreadsPerBlock) {
      work.body(context, i);
    }
  } else {
    for (std::int64_t i = first; i < end; i += kThreadsPerBlock) {
      work.body(i);
    }
  }
}

template <class Body>
__device__ void do_part(const JoinedEntry& entry, const Reduction<Body>& work, std::int64_t part) {
  const ReductionGeometry geometry{entry.chunks, entry.terms_per_chunk};
  const std::int64_t all = entry.stage == 0 ? work.outputs * geometry.chunks : work.outputs;
  const std::int64_t begin = part * entry.per_part;
  const std::int64_t end = min(begin + entry.per_part, all);
  for (std::int64_t i = begin; i < end; ++i) {
    if (entry.stage == 0) {
      sum_chunk(work, geometry, i);
    } else {
      join_chunks_of(work, geometry, i);
    }
    __syncthreads();  // the sums of the warps are used again
  }
}

/// As join_kernel_gradient of tile_works.cu.
__device__ void do_part(const JoinedEntry&, const JoinKernelGradient& work, std::int64_t part) {
  __shared__ double of_warps[kWarpsPerBlock][kJoinedAtOnce];
  if (work.has_few_terms()) {
    const std::int64_t output = part * work.outputs_of_block() + threadIdx.x;
    if (output < work.outputs()) {
      work.finish(output, work.sum(output));
    }
    return;
  }
  const int lane = threadIdx.x % kJoinedAtOnce;
  const int warp = threadIdx.x / kJoinedAtOnce;
  const std::int64_t output = part * kJoinedAtOnce + lane;
  double sum = 0;
  for (int i = warp; i < work.terms(); i += kWarpsPerBlock) {
    sum += static_cast<double>(work.term(output, i));
  }
  of_warps[warp][lane] = sum;
  __syncthreads();
  if (warp == 0) {
    for (int w = 1; w < kWarpsPerBlock; ++w) {
      sum += of_warps[w][lane];
    }
    work.finish(output, sum);
  }
}

__device__ void do_entry(const JoinedEntry& entry, std::int64_t part) {
  switch (entry.kind) {
#define COSMIC_CUDA_CASE(...)                                                \
  case kJoinedKind<__VA_ARGS__>:                                             \
    do_part(entry, *reinterpret_cast<const __VA_ARGS__*>(entry.work), part); \
    return;
    COSMIC_CUDA_JOINED_WORKS(COSMIC_CUDA_CASE)
#undef COSMIC_CUDA_CASE
  }
}

/// An entry comes to the chip as a whole: its members are then read without further waiting.
__global__ void __launch_bounds__(kThreadsPerBlock) joined_kernel(const Joined launch) {
  __shared__ __align__(16) std::byte bytes[sizeof(JoinedEntry)];
  const JoinedEntry& entry = *reinterpret_cast<const JoinedEntry*>(bytes);
  constexpr int kWords = sizeof(JoinedEntry) / sizeof(uint4);
  static_assert(sizeof(JoinedEntry) % sizeof(uint4) == 0 && kWords <= kThreadsPerBlock);
  const JoinedBlock block = launch.blocks[blockIdx.x];
  for (int i = 0; i < block.count; ++i) {
    if (threadIdx.x < kWords) {
      reinterpret_cast<uint4*>(bytes)[threadIdx.x] =
          reinterpret_cast<const uint4*>(launch.entries + block.first + i)[threadIdx.x];
    }
    __syncthreads();
    do_entry(entry, block.part);
    __syncthreads();  // what the next entry reads is written, and this one is not needed any more
  }
}

}  // namespace

CudaError launch_kernels(const Joined& work, Stream stream) {
  if (work.block_count > 0) {
    start(joined_kernel, static_cast<unsigned>(work.block_count), kThreadsPerBlock, 0, stream,
          work);
  }
  return cudaGetLastError();
}
CudaError load_kernels(const Joined&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, joined_kernel);
}

template CudaError launch(const Joined& work, Stream stream);
template CudaError load(const Joined& work);

}  // namespace cosmic::target::cuda
