#include "cli/reference_spelling.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace cosmic::cli {
namespace {

constexpr std::array<std::string_view, 3> kRecipeFlags{"--config-name", "--config-dir", "-cn"};
constexpr std::string_view kMode = "mode=";
constexpr std::string_view kHelp = "help";

std::string command_of(const std::string& mode) {
  return mode == "inference" ? "infer" : mode;
}

}  // namespace

bool is_setting(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(0, word.find('='));
  const bool flag = word.starts_with('-');
  return flag ? std::find(kRecipeFlags.begin(), kRecipeFlags.end(), name) != kRecipeFlags.end()
              : name.size() < word.size();
}

std::vector<std::string> with_command(std::vector<std::string> words) {
  if (!words.empty() && words.front() == kHelp) {
    words.erase(words.begin(), std::find_if(words.begin(), words.end(),
                                            [](const auto& word) { return word != kHelp; }));
    words.emplace_back("--help");
    return words;
  }
  if (words.empty() || !is_setting(words.front())) {
    return words;
  }
  std::string command = "train";
  for (const std::string& word : words) {
    if (word.starts_with(kMode)) {
      command = command_of(word.substr(kMode.size()));
    }
  }
  words.insert(words.begin(), command);
  return words;
}

}  // namespace cosmic::cli
