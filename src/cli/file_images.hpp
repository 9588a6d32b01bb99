// Which images of a file are to be tagged, where they have another name than those that the weights
// were trained on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/configuration.hpp"

namespace cosmic::cli {

/// The producer of the only images of the file that are neither labels nor predictions, if the file
/// has none of data.image_producer. Nothing if it has them, has no images at all or cannot be
/// opened: whoever reads it says so. Throws UserError, with their names, if there are several.
std::optional<std::string> only_other_images(const std::filesystem::path& file,
                                             const config::DataConfig& data);

}  // namespace cosmic::cli
