// The driver that talks to CUDA.
#pragma once

#include <memory>

#include "target/cuda/driver.hpp"

namespace cosmic::target::cuda {

std::shared_ptr<const Driver> cuda_driver();

}  // namespace cosmic::target::cuda
