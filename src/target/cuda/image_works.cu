#include "target/cuda/launch.cuh"
#include "target/cuda/pixel_works.cuh"

namespace cosmic::target::cuda {

template <class Body>
CudaError launch_kernels(const PixelMap<Body>& work, Stream stream) {
  if (work.items > 0) {
    const dim3 grid(static_cast<unsigned>((work.items + kItemsOfBlock - 1) / kItemsOfBlock),
                    static_cast<unsigned>(work.slices));
    const auto bytes =
        static_cast<std::size_t>(work.body.recipe().table_pairs()) * sizeof(Pair);
    pixel_map_kernel<<<grid, kThreadsOfTile, bytes, stream>>>(work);
  }
  return cudaGetLastError();
}

template <class Body>
CudaError load_kernels(const PixelMap<Body>&) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, pixel_map_kernel<Body>);
}

COSMIC_CUDA_IMAGE_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
