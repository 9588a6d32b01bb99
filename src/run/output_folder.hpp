// Where a run's files are.
#pragma once

#include <filesystem>

#include "config/configuration.hpp"

namespace cosmic::run {

/// output_dir, or a folder named after the run if that is not set.
std::filesystem::path output_folder(const config::Configuration& configuration);

/// Makes a folder and those it is in, unless they exist. Throws UserError if that cannot be done.
void make_folder(const std::filesystem::path& folder);

}  // namespace cosmic::run
