#include "cli/common_mistakes.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "cli/command.hpp"
#include "config/schema.hpp"
#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "core/printable.hpp"

namespace cosmic::cli {
namespace {

/// In letters of either case: "--gpu".
bool is_compute_mode(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const config::Key& key = config::require_key("run.compute_mode");
  return std::any_of(key.choices.begin(), key.choices.end(),
                     [&](const config::Choice& choice) { return choice.name == name; }) ||
         std::any_of(key.choice_aliases.begin(), key.choice_aliases.end(),
                     [&](const auto& alias) { return alias.first == name; });
}

/// The key that an option of another program is: "--learning-rate", "--lr".
std::optional<std::string> setting_also_called(std::string option) {
  static const std::map<std::string, std::string> known{{"lr", "mode.optimizer.learning_rate"},
                                                        {"batch", "run.minibatch_size"},
                                                        {"batch_size", "run.minibatch_size"},
                                                        {"epochs", "run.length"},
                                                        {"steps", "run.iterations"},
                                                        {"device", "run.compute_mode"},
                                                        {"data", "data.file"},
                                                        {"input", "data.file"}};
  option.erase(0, option.find_first_not_of('-'));
  std::replace(option.begin(), option.end(), '-', '_');
  if (is_compute_mode(option)) {
    return "run.compute_mode";
  }
  if (const auto found = known.find(option); found != known.end()) {
    return found->second;
  }
  for (const config::Key& key : config::schema()) {
    if (key.name == option || key.name.ends_with("." + option)) {
      return key.name;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> options_of(const CommandEntry& command) {
  std::vector<std::string_view> names;
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.names) {
      if (name.starts_with("--")) {
        names.push_back(name);
      }
    }
  }
  if (command.takes_settings) {
    names.insert(names.end(), {"--config-name", "--config-dir", "--config-path"});
  }
  return names;
}

std::string what_is_meant_by(const std::string& option, const CommandEntry& command) {
  if (const auto near = near_name(option, options_of(command))) {
    return "did you mean '" + std::string(*near) + "'?";
  }
  const std::optional<std::string> key = setting_also_called(option);
  return command.takes_settings && key ? "it is a setting here: " + *key + "=..." : "leave it out";
}

}  // namespace

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

void refuse_unknown_options(const CommandEntry& program, std::span<const std::string> words) {
  const CommandEntry* command = &program;
  for (const std::string& word : words) {
    if (word == "--") {
      return;  // what follows is for another command
    }
    const auto inner = std::find_if(command->commands.begin(), command->commands.end(),
                                    [&](const CommandEntry& one) { return one.name == word; });
    if (inner != command->commands.end()) {
      command = &*inner;
      continue;
    }
    const std::string option = word.substr(0, word.find('='));
    const std::vector<std::string_view> known = options_of(*command);
    if (word.starts_with("--") && std::find(known.begin(), known.end(), option) == known.end()) {
      throw UsageError((command->name.empty() ? "" : command->name + " ") + printable(option) +
                       " (there is no such option); " + what_is_meant_by(option, *command));
    }
  }
}

}  // namespace cosmic::cli
