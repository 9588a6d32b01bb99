// What a run reads, so that nothing it writes takes the place of it.
#pragma once

#include <filesystem>
#include <vector>

#include "config/configuration.hpp"

namespace cosmic::run {

/// The files at a place that weights are read from: itself, and if it is a folder its checkpoints.
std::vector<std::filesystem::path> weights_files(const std::filesystem::path& location);

/// Events, weights and descriptions that these settings name, whether or not they exist, and the
/// run's own checkpoints.
std::vector<std::filesystem::path> input_files(const config::Configuration& configuration);

}  // namespace cosmic::run
