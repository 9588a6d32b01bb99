// Short ways to give a command line in tests.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "config/parse.hpp"

namespace cosmic::config {

/// The words of a line without quotes, as a shell would give them.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) {
    result.push_back(word);
  }
  return result;
}

inline Resolved parsed(const std::string& line, const ParseOptions& options = {}) {
  return parse(words(line), options);
}

}  // namespace cosmic::config
