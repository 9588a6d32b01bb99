// What commands that write files have in common: --overwrite, and which files they must not touch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "config/configuration.hpp"
#include "core/output_rule.hpp"

namespace cosmic::cli {

/// --overwrite of a command. Every command that writes a file has it: messages about files that
/// exist name it.
class OverwriteFlag {
 public:
  /// Adds it to the command. Copies share the value.
  explicit OverwriteFlag(Command& command);

  /// What it says, once the command line has been read.
  Existing existing() const { return *existing_; }

 private:
  std::shared_ptr<Existing> existing_ = std::make_shared<Existing>(Existing::refuse);
};

/// Adds the recipes that the words of a command line may name to what is read.
void add_recipe_files(OutputRule& rule, const std::vector<std::string>& words);

/// For a command with settings: whatever they name is read.
OutputRule output_rule(const OverwriteFlag& overwrite, const config::Configuration& configuration,
                       const std::vector<std::string>& words);

}  // namespace cosmic::cli
