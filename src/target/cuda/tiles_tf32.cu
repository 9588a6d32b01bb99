#include "target/cuda/tile_launch.cuh"

namespace cosmic::target::cuda {

COSMIC_CUDA_DEFINE_PRODUCTS(Products::tf32)

}  // namespace cosmic::target::cuda
