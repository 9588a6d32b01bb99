#include "cli/common_mistakes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"

namespace cosmic::cli {

std::string command_also_called(const std::string& word, std::span<const std::string> commands) {
  static const std::map<std::string, std::string> known{{"server", "serve"},
                                                        {"display", "view"},
                                                        {"predict", "tag"},
                                                        {"inference", "infer"},
                                                        {"eval", "evaluate"},
                                                        {"validate", "evaluate"},
                                                        {"fit", "train"},
                                                        {"training", "train"},
                                                        {"resume", "train"},
                                                        {"benchmark", "measure-performance"},
                                                        {"lr-find", "find-learning-rate"},
                                                        {"diff", "compare"},
                                                        {"completions", "completion"},
                                                        {"settings", "config"},
                                                        {"devices", "targets"},
                                                        {"status", "monitor"}};
  const auto found = known.find(word);
  return found != known.end() &&
                 std::find(commands.begin(), commands.end(), found->second) != commands.end()
             ? found->second
             : "";
}

void refuse_hydra_words(std::span<const std::string> words) {
  // It may come later: `launch 4 train -m ...`.
  const bool trains = std::find(words.begin(), words.end(), "train") != words.end();
  for (const std::string& word : words) {
    COSMIC_REQUIRE(UserError, !word.starts_with('~'),
                   printable(word)
                       << " would take a key away, as in Hydra (here every key has a value); leave "
                          "it out for its default, or give the value that you want");
    COSMIC_REQUIRE(UserError, word != "--cfg" && !word.starts_with("--cfg="),
                   "--cfg is Hydra's; `cosmictagger config SETTINGS` prints the settings that a "
                   "command line results in, `cosmictagger config --yaml SETTINGS` as a recipe");
    COSMIC_REQUIRE(UserError, word != "--hydra-help" && word != "--info" && word != "--package",
                   word << " is Hydra's; `cosmictagger help train` says how settings are given");
    COSMIC_REQUIRE(UserError, trains || (word != "-m" && word != "--multirun"),
                   word << " (sweeps are trainings); use `cosmictagger train " << word << "`, or `"
                        << words.front() << "` once for each value");
  }
}

void refuse_mistyped_options(const CommandEntry& program, std::span<const std::string> words) {
  const CommandEntry* command = &program;
  std::string name = "cosmictagger";
  while (!words.empty()) {
    const auto inner = std::find_if(
        command->commands.begin(), command->commands.end(),
        [&](const CommandEntry& candidate) { return candidate.name == words.front(); });
    if (inner == command->commands.end()) {
      break;
    }
    command = &*inner;
    name += " " + inner->name;
    words = words.subspan(1);
  }
  std::vector<std::string_view> known;
  for (const OptionEntry& option : command->options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  if (command->takes_settings) {
    known.insert(known.end(), {"--config-name", "--config-dir", "--config-path"});
  }
  std::erase_if(known, [](std::string_view option) { return !option.starts_with("--"); });
  for (const std::string& word : words) {
    if (word == "--") {
      return;  // what follows is for another program, or is no option
    }
    const std::string option = word.substr(0, word.find('='));
    if (!option.starts_with("--") || known.empty() ||
        std::find(known.begin(), known.end(), option) != known.end()) {
      continue;
    }
    const std::optional<std::string_view> meant = similar_name(option, known);
    throw UserError(name + " has no option " + printable(option) + "; " +
                    (meant ? "did you mean '" + std::string(*meant) + "'? " : "") + "`" + name +
                    " --help` lists its options");
  }
}

}  // namespace cosmic::cli
