// What the program's command line consists of, as data: for shell completion and the manual page,
// which are then never behind the help.
#pragma once

#include <string>
#include <vector>

namespace cosmic::cli {

struct OptionEntry {
  std::vector<std::string> names;  ///< "--output"; one without dashes goes by its position
  std::string description;
  bool takes_value = false;
};

struct CommandEntry {
  std::string name;
  std::string description;
  std::vector<OptionEntry> options;
  bool takes_settings = false;  ///< words such as run.id=01
  std::vector<CommandEntry> commands;
};

}  // namespace cosmic::cli
