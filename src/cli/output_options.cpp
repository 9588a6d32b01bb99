#include "cli/output_options.hpp"

#include <filesystem>

#include "run/input_files.hpp"

namespace cosmic::cli {

OverwriteFlag::OverwriteFlag(Command& command) {
  command.add_flag_callback(
      "--overwrite", [existing = existing_] { *existing = Existing::replace; },
      "Replace files that exist, except those that this command reads");
}

void add_recipe_files(OutputRule& rule, const std::vector<std::string>& words) {
  // Which of them is the recipe and which its folder is for config::parse; here any will do, since
  // names without a file do no harm.
  std::vector<std::filesystem::path> named;
  for (const std::string& word : words) {
    named.emplace_back(word.starts_with('-') ? word.substr(word.find('=') + 1) : word);
  }
  for (const std::filesystem::path& name : named) {
    rule.inputs.push_back(name);
    for (const std::filesystem::path& folder : named) {
      rule.inputs.push_back(folder / name);
      rule.inputs.push_back(folder / (name.string() + ".yaml"));
    }
  }
}

OutputRule output_rule(const OverwriteFlag& overwrite, const config::Configuration& configuration,
                       const std::vector<std::string>& words) {
  OutputRule rule{overwrite.existing(), run::input_files(configuration)};
  add_recipe_files(rule, words);
  return rule;
}

}  // namespace cosmic::cli
