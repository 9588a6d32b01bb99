// What a help text lists.
#pragma once

#include <set>
#include <sstream>
#include <string>

namespace cosmic {

/// The commands of it, under whatever headings: lines of two blanks, a name and what it does.
inline std::set<std::string> commands_listed_in(const std::string& help_text) {
  const std::set<std::string> others{"Options:", "Positionals:", "Exit status:"};
  std::istringstream help(help_text);
  std::set<std::string> names;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line.empty()) {
      listed = false;
    } else if (line[0] != ' ') {
      listed = line.ends_with(':') && !others.contains(line);
    } else if (listed && line.starts_with("  ") && line[2] != ' ') {
      names.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

}  // namespace cosmic
