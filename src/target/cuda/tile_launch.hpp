// Starting the kernels of tensor cores: one file for each format of factors, since they take the
// compiler longer than everything else.
#pragma once

#include "target/cuda/launch.hpp"

namespace cosmic::target::cuda {

template <Products kProducts>
CudaError launch_conv_tile(const ConvTile& work, Stream stream);
template <Products kProducts>
CudaError load_conv_tile(const ConvTile& work);

template <Products kProducts>
CudaError launch_kernel_gradient(const KernelGradientTile& work, Stream stream);
template <Products kProducts>
CudaError load_kernel_gradient(const KernelGradientTile& work);

}  // namespace cosmic::target::cuda
