#pragma once

#include <memory>

#include "target/registration.hpp"

namespace cosmic::target::cuda {

class Driver;

Registration registration();

/// On a device of this driver. Throws UserError if there is none of that number, TargetError if
/// nothing can run there. For tests, which bring a driver of their own.
std::unique_ptr<Target> make_cuda_target(std::shared_ptr<const Driver> driver, int device);

}  // namespace cosmic::target::cuda
