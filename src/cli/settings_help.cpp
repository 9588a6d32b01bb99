#include "cli/settings_help.hpp"

#include <algorithm>

#include "config/help.hpp"

namespace cosmic::cli {
namespace {

constexpr const char* kHelpAll = "--help-all";
bool all_asked = false;  // by the one command line that a process has

}  // namespace

std::vector<std::string> with_help_all(std::vector<std::string> words) {
  const auto found = std::find(words.begin(), words.end(), kHelpAll);
  if (found != words.end()) {
    all_asked = true;
    *found = "--help";
  }
  return words;
}

std::string settings_help(std::optional<config::Mode> mode) {
  return all_asked ? config::help(mode) : config::short_help();
}

}  // namespace cosmic::cli
