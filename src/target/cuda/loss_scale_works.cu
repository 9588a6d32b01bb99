#include "target/cuda/launch.cuh"

namespace cosmic::target::cuda {

COSMIC_CUDA_SCALING_WORKS(COSMIC_CUDA_DEFINE)

}  // namespace cosmic::target::cuda
