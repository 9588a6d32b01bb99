// The kernel of pixel_works.hpp.
#pragma once

#include "target/cuda/kernels/pixel_works.hpp"
#include "target/cuda/launch_geometry.hpp"
#include "target/cuda/tiles.cuh"

namespace cosmic::target::cuda {

template <class Body>
__global__ void __launch_bounds__(kThreadsOfTile)
    pixel_map_kernel(const __grid_constant__ PixelMap<Body> work) {
  COSMIC_CHIP_MEMORY(chip);
  Pair* const table = reinterpret_cast<Pair*>(chip);
  fill_table(work.body.recipe(), blockIdx.y * work.events_of_slice, table);
  __syncthreads();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kItemsOfBlock + threadIdx.x;
  for (int k = 0; k < kItemsOfBlock / kThreadsOfTile; ++k) {
    const std::int64_t i = first + k * kThreadsOfTile;
    if (i < work.items) {
      work.body(table, blockIdx.y, i);
    }
  }
}

}  // namespace cosmic::target::cuda
