// Which commands there are, as the program says itself.
#pragma once

#include <set>
#include <sstream>
#include <string>

namespace cosmic {

/// Of a manual page, which has a section for each: "tag", "data", "data show".
inline std::set<std::string> commands_in_manual(const std::string& page) {
  const std::string section = ".SS ";
  std::istringstream lines(page);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(section)) {
      std::string name = line.substr(section.size());
      std::erase(name, '\\');
      names.insert(name);
    }
  }
  return names;
}

}  // namespace cosmic
