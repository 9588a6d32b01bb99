// Options as text: a YAML file that a person writes, and what a log keeps of a run. The callbacks
// are not part of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "session/options.hpp"

namespace cosmic::session {

/// One line per option, in the order of the struct: options_from_yaml(to_yaml(o), "") is o.
std::string to_yaml(const Options& options);

/// Options that are not mentioned keep their default. Throws UserError that begins with
/// "NAME:LINE: " for an unknown key, with the closest known one, and for a value that cannot be.
Options options_from_yaml(std::string_view text, const std::string& name);

/// Throws UserError naming the file.
Options load_options(const std::filesystem::path& path);

/// The keys, in order.
std::vector<std::string_view> option_names();

}  // namespace cosmic::session
