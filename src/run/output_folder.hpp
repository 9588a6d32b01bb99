// Where a run's files are.
#pragma once

#include <filesystem>

#include "config/configuration.hpp"

namespace cosmic::run {

/// output_dir, or a folder named after the run if that is not set.
std::filesystem::path output_folder(const config::Configuration& configuration);

}  // namespace cosmic::run
