#include "cli/common_mistakes.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"
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

}  // namespace cosmic::cli
