// From the words of a command line to a configuration, as people write them for the reference:
//
//   mode=train network=a21 run.id=01 data.data_directory=files/ --config-name a21
//
// Defaults come first, then the choices of groups, then the recipe, then single values; a group
// chosen on the command line replaces the recipe's choice. Of what nobody gave, the settings that
// belong to weights come from the weights.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/recipe.hpp"
#include "config/weights_settings.hpp"

namespace cosmic::config {

/// What to do about a key that has to be given and was not.
enum class MissingKeys { refuse, leave };

struct ParseOptions {
  std::optional<Mode> mode = {};        ///< of a command that is one mode: `cosmictagger train`
  std::optional<Command> command = {};  ///< empty for the one that runs the mode
  std::string default_run_id = {};      ///< where run.id may be left out
  MissingKeys missing = MissingKeys::refuse;
  RecipeText recipe = {};  ///< where the command line names none; empty for none
  /// What the weights say that the command would take up, given what everything else says. Settings
  /// that belong to weights and that nobody gave come from there.
  std::function<std::optional<WeightsRecord>(const Situation&)> weights = {};
};

struct Resolved {
  Configuration configuration;
  /// What a user should know: settings that were given twice, or that do nothing here.
  std::vector<std::string> notes;
};

/// Throws UserError that says what is wrong with which word, and what would do; also for settings
/// that contradict the weights, unless mode.insist_on_settings is true.
Resolved parse(std::span<const std::string> arguments, const ParseOptions& options = {});

/// A configuration that to_yaml wrote. Throws UserError with `name` and the line of what is wrong.
Configuration from_yaml(std::string_view text, const std::string& name);

}  // namespace cosmic::config
