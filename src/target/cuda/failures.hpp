// What a user is told when a device is not there, is not for us, or gives up.
#pragma once

#include <string>

#include "core/error.hpp"
#include "core/support.hpp"
#include "target/cuda/driver.hpp"

namespace cosmic::target::cuda {

/// The oldest cards that the kernels are compiled for.
inline constexpr int kOldestMajor = 8;

/// "13.0" of 13000.
std::string version_text(int version);
/// "device 0 (NVIDIA H200)".
std::string name_of(const DeviceFacts& device);

/// Can anything run here at all? Why not, and what to do.
Support availability(const Presence& presence);
Support availability(const DeviceFacts& device);

/// `what` needed memory that the device has not: "the values of the program".
TargetError out_of_memory(const Device& device, const std::string& what, std::int64_t bytes);

/// Throws TargetError unless it is ok; `doing` is what it happened at: "a run".
void require(const Answer& answer, const DeviceFacts& device, const std::string& doing);

}  // namespace cosmic::target::cuda
