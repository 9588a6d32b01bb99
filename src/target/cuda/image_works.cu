#include "target/cuda/launch.cuh"
#include "target/cuda/max_pool_gradient.cuh"
#include "target/cuda/pixel_works.cuh"
#include "target/cuda/upsample_gradient.cuh"

namespace cosmic::target::cuda {
namespace {

template <class Body>
CudaError launch_pixel_map(const PixelMap<Body>& work, Stream stream) {
  if (work.items > 0) {
    const dim3 grid(static_cast<unsigned>((work.items + kItemsOfBlock - 1) / kItemsOfBlock),
                    static_cast<unsigned>(work.slices));
    const auto bytes = static_cast<std::size_t>(work.body.recipe().table_pairs()) * sizeof(Pair);
    start(pixel_map_kernel<Body>, grid, kThreadsOfTile, bytes, stream, work);
  }
  return cudaGetLastError();
}

template <class Kernel>
CudaError load_kernel(Kernel* kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}

}  // namespace

template <class Body>
CudaError launch_kernels(const PixelMap<Body>& work, Stream stream) {
  return launch_pixel_map(work, stream);
}

template <class Body>
CudaError load_kernels(const PixelMap<Body>&) {
  return load_kernel(pixel_map_kernel<Body>);
}

/// A kernel on channel blocks of images, some pixels a block of threads. pairs: of the tables.
template <class Kernel, class Body>
CudaError launch_on_planes(Kernel* kernel, const Body& body, const Image& image, int pairs,
                           int blocks_of_plane, Stream stream) {
  const dim3 grid(static_cast<unsigned>(blocks_of_plane), static_cast<unsigned>(image.images),
                  static_cast<unsigned>(image.blocks()));
  const auto bytes = static_cast<std::size_t>(pairs) * sizeof(Pair);
  start(kernel, grid, kThreadsOfTile, bytes, stream, body);
  return cudaGetLastError();
}

template <>
CudaError launch_kernels(const PixelMap<EvaluateBody>& work, Stream stream) {
  const Image& out = work.body.out;
  return with_evaluate(
      work.body,
      [&](auto* kernel) {
        const int blocks = ceil_of(out.rows * out.columns, kPixelsUnderWay * kThreadsOfTile);
        return launch_on_planes(kernel, work.body, out, work.body.value.table_pairs(), blocks,
                                stream);
      },
      [&] { return launch_pixel_map(work, stream); });
}
template <>
CudaError load_kernels(const PixelMap<EvaluateBody>& work) {
  return with_evaluate(
      work.body, [](auto* kernel) { return load_kernel(kernel); },
      [] { return load_kernel(pixel_map_kernel<EvaluateBody>); });
}

template <>
CudaError launch_kernels(const PixelMap<MaxPoolGradientPixelsBody>& work, Stream stream) {
  const Image& dy = work.body.dy;
  return with_max_pool_gradient(
      work.body,
      [&](auto* kernel) {
        const int pairs = work.body.x.table_pairs() + work.body.sums.v.table_pairs();
        return launch_on_planes(kernel, work.body, dy, pairs, work.body.blocks_of_plane(), stream);
      },
      [&] { return launch_pixel_map(work, stream); });
}
template <>
CudaError load_kernels(const PixelMap<MaxPoolGradientPixelsBody>& work) {
  return with_max_pool_gradient(
      work.body, [](auto* kernel) { return load_kernel(kernel); },
      [] { return load_kernel(pixel_map_kernel<MaxPoolGradientPixelsBody>); });
}

template <>
CudaError launch_kernels(const PixelMap<UpsampleGradientPixelsBody>& work, Stream stream) {
  const Image& dx = work.body.dx;
  return with_upsample_gradient(
      work.body,
      [&](auto* kernel) {
        return launch_on_planes(kernel, work.body, dx, work.body.dy.table_pairs(),
                                UpsampleStrips(dx).blocks_of_plane(), stream);
      },
      [&] { return launch_pixel_map(work, stream); });
}
template <>
CudaError load_kernels(const PixelMap<UpsampleGradientPixelsBody>& work) {
  return with_upsample_gradient(
      work.body, [](auto* kernel) { return load_kernel(kernel); },
      [] { return load_kernel(pixel_map_kernel<UpsampleGradientPixelsBody>); });
}

COSMIC_CUDA_IMAGE_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
