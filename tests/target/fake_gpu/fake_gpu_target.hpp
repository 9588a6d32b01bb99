// The target of GPUs with a device that is the host (cuda/host_driver.hpp), registered as the real
// one is. A test program that lists it instead has all commands with a GPU where there is none.
#pragma once

#include <memory>

#include "target/cuda/host_driver.hpp"
#include "target/registration.hpp"

namespace cosmic::target::fake_gpu {

/// What the tests tell the device, and see of it.
const std::shared_ptr<cuda::HostMachine>& machine();

/// As it was at first.
void reset_machine();

Registration registration();

}  // namespace cosmic::target::fake_gpu
