// Answers a run that does not fit the memory of its device with the largest batch that does.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "monitor/nvml.hpp"
#include "run/what_fits.hpp"
#include "session/device_memory.hpp"

namespace cosmic::run {

/// Why the run was refused, who else has memory of the device, and the largest batch that fits. It
/// was tried: the same programs were planned for it, which takes a moment each and allocates
/// nothing on the device.
std::string fitting_batch(const config::Configuration& configuration, TrainingPrograms programs,
                          const session::DeviceMemoryError& refusal,
                          const std::vector<monitor::DeviceProcess>& others);

}  // namespace cosmic::run
