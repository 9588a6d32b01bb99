// The reference has one program and a mode: `exec.py mode=train run.id=01 ...`. Such a command line
// works here as it is written, and so does `help`, which people try.
#pragma once

#include <string>
#include <vector>

namespace cosmic::cli {

/// Is this word a setting, `run.id=01`, or the choice of a recipe, and so no command?
bool is_setting(const std::string& word);

/// Puts the command of its mode in front of a line of settings (train if it does not say), and
/// turns `help train` into `train --help`; leaves any other line as it is.
std::vector<std::string> with_command(std::vector<std::string> words);

}  // namespace cosmic::cli
