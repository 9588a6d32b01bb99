#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "target/cuda/driver.hpp"

namespace cosmic::target::cuda {

/// Sums by way of the host's memory: down to pinned memory, over all processes by the communicator,
/// which outlives the result, and up again. They are added up in the order of ranks. For processes
/// that share a device, and where GPUs cannot reach each other.
std::shared_ptr<ProcessSums> sums_by_host(std::shared_ptr<Device> device,
                                          comm::Communicator& communicator);

}  // namespace cosmic::target::cuda
