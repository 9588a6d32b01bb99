// A build whose GPU is the host: whole runs go through the target `cuda` where there is no device.
// host_gpu.cpp defines the list of targets, so the program that links it has `cpu` and `cuda`
// alone, both of which like images or pixels as they are told to.
#pragma once

#include <memory>

#include "target/cuda/host_driver.hpp"

namespace cosmic::target::cuda {

struct HostGpu {
  std::shared_ptr<HostMachine> machine = std::make_shared<HostMachine>();
  bool prefers_pixels = true;  ///< false: as if they liked images, to compare the two
};

/// What targets made from now on are on.
HostGpu& host_gpu();

}  // namespace cosmic::target::cuda
