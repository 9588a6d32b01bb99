#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "target/cuda/driver.hpp"
#include "target/cuda/nccl_library.hpp"

namespace cosmic::target::cuda {

/// Sums by NCCL between the device of this process and those of all others, which call this too.
/// Throws TargetError in all of them if one of them cannot, or if two share a device.
std::shared_ptr<ProcessSums> connect_by_nccl(std::shared_ptr<NcclLibrary> library,
                                             const DeviceFacts& device,
                                             comm::Communicator& communicator);

}  // namespace cosmic::target::cuda
