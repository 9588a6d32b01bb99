// A configuration as text: for logs as the reference prints it, and as YAML that reads back to the
// same configuration.
#pragma once

#include <string>

#include "config/configuration.hpp"

namespace cosmic::config {

/// Sorted, one key per line, dots up to the value:
///
///   run:
///     id..........................: 01
std::string dump(const Configuration& configuration);

/// A recipe: from_yaml(to_yaml(c)) == c. The output folder is left out where it follows from the
/// rest, so that a copy with another run.id gets a folder of its own.
std::string to_yaml(const Configuration& configuration);

/// The folder used if output_dir is not set.
std::string default_output_dir(const Configuration& configuration);

}  // namespace cosmic::config
