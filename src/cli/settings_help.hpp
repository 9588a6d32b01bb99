// The part of a command's help that is about settings: short, or with every key (--help-all).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/choices.hpp"

namespace cosmic::cli {

/// Takes --help-all out of the words of a command line and asks for the help instead; settings_help
/// then lists every key.
std::vector<std::string> with_help_all(std::vector<std::string> words);

/// For the footer of a command that takes settings; with a mode, only the keys that it has.
std::string settings_help(std::optional<config::Mode> mode = {});

}  // namespace cosmic::cli
