#include "target/cuda/launch.cuh"

namespace cosmic::target::cuda {
namespace {

/// Pixels of a group of channels that a thread moves, a block of threads apart.
constexpr int kPixelsOfThread = 4;
/// Of the second and third axis of a grid.
constexpr int kMostAcross = 65535;

/// A block of threads has neighbouring pixels of a group of channels of an image.
__global__ void __launch_bounds__(kThreadsPerBlock)
    arrange_kernel(const __grid_constant__ ArrangeBody body) {
  const auto pixels = static_cast<int>(body.counted().pixels());
  const ArrangeBody::Group group =
      body.group(static_cast<std::int64_t>(blockIdx.z), static_cast<int>(blockIdx.y));
  const int first = static_cast<int>(blockIdx.x) * kPixelsOfThread * kThreadsPerBlock +
                    static_cast<int>(threadIdx.x);
#pragma unroll
  for (int k = 0; k < kPixelsOfThread; ++k) {
    const int pixel = first + k * kThreadsPerBlock;
    if (pixel < pixels) {
      body.move(group, pixel);
    }
  }
}

/// Four neighbouring pixels of a thread, from channels side by side to a plane for each channel:
/// the scores of an inference, on their way out.
__global__ void __launch_bounds__(kThreadsPerBlock)
    narrow_to_plain_kernel(const __grid_constant__ ArrangeBody body) {
  const auto quads = static_cast<int>(body.y.pixels() / 4);
  const int quad = static_cast<int>(blockIdx.x) * kThreadsPerBlock + static_cast<int>(threadIdx.x);
  if (quad >= quads) {
    return;
  }
  const std::int64_t image = blockIdx.y;
  const float4* const from =
      static_cast<const float4*>(body.x.base) + image * body.x.pixels() + 4 * quad;
  float4 pixel[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    pixel[k] = from[k];
  }
  float4* const to = static_cast<float4*>(body.y.base) + image * body.y.channels * quads + quad;
  const float4 planes[kNarrowBlock] = {{pixel[0].x, pixel[1].x, pixel[2].x, pixel[3].x},
                                       {pixel[0].y, pixel[1].y, pixel[2].y, pixel[3].y},
                                       {pixel[0].z, pixel[1].z, pixel[2].z, pixel[3].z},
                                       {pixel[0].w, pixel[1].w, pixel[2].w, pixel[3].w}};
#pragma unroll
  for (int c = 0; c < kNarrowBlock; ++c) {
    if (c < body.y.channels) {
      to[static_cast<std::int64_t>(c) * quads] = planes[c];
    }
  }
}

bool is_narrow_to_plain(const ArrangeBody& body) {
  return body.kind == ArrangeBody::Kind::copy && body.x.lanes == kNarrowBlock &&
         body.x.format == Format::f32 && !body.y.is_blocked() && body.y.depth == 1 &&
         body.y.pixels() % 4 == 0 && body.y.images <= kMostAcross;
}

/// Places within an image are counted in 32 bits; supports_node sees to that.
bool fits_a_grid(const ArrangeBody& body) {
  return body.has_groups() && body.groups() <= kMostAcross && body.counted().images <= kMostAcross;
}

}  // namespace

CudaError launch_kernels(const Map<ArrangeBody>& work, Stream stream) {
  const ArrangeBody& body = work.body;
  if (is_narrow_to_plain(body)) {
    const dim3 grid(static_cast<unsigned>(blocks_for(body.y.pixels() / 4)),
                    static_cast<unsigned>(body.y.images));
    start(narrow_to_plain_kernel, grid, kThreadsPerBlock, 0, stream, body);
  } else if (work.elements > 0 && !fits_a_grid(body)) {
    start(map_kernel<ArrangeBody>, static_cast<unsigned>(blocks_for(work.elements)),
          kThreadsPerBlock, 0, stream, work);
  } else if (work.elements > 0) {
    const std::int64_t pixels_of_block = kPixelsOfThread * kThreadsPerBlock;
    const dim3 grid(
        static_cast<unsigned>((body.counted().pixels() + pixels_of_block - 1) / pixels_of_block),
        static_cast<unsigned>(body.groups()), static_cast<unsigned>(body.counted().images));
    start(arrange_kernel, grid, kThreadsPerBlock, 0, stream, body);
  }
  return cudaGetLastError();
}

CudaError load_kernels(const Map<ArrangeBody>& work) {
  cudaFuncAttributes attributes;
  if (is_narrow_to_plain(work.body)) {
    return cudaFuncGetAttributes(&attributes, narrow_to_plain_kernel);
  }
  return fits_a_grid(work.body) ? cudaFuncGetAttributes(&attributes, arrange_kernel)
                                : cudaFuncGetAttributes(&attributes, map_kernel<ArrangeBody>);
}

COSMIC_CUDA_ARRANGE_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
