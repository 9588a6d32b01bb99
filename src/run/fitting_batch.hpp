// Answers a run that does not fit the memory of its device, or of this host, with the largest batch
// that does.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "core/process_memory.hpp"
#include "data/dense_image.hpp"
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

/// The same for a target in the host's own memory, which batches of images share; of images of this
/// size.
std::string fitting_batch(const config::Configuration& configuration, TrainingPrograms programs,
                          const HostMemoryError& refusal, const data::DenseShape& image);

}  // namespace cosmic::run
