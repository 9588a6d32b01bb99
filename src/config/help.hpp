// The schema explained: for a terminal, and as the document docs/configuration.md.
#pragma once

#include <optional>
#include <string>

#include "config/choices.hpp"

namespace cosmic::config {

/// How settings are given, then every key with its default, type and meaning; with a mode, only the
/// keys that it has.
std::string help(std::optional<Mode> mode = {});

/// How settings are given, the groups, and the keys that runs are most often told.
std::string short_help();

std::string markdown();

}  // namespace cosmic::config
