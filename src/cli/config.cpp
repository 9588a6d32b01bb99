// `cosmictagger config`: what a command line comes to, before anything is run.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/settings_help.hpp"
#include "cli/standard_streams.hpp"
#include "config/dump.hpp"
#include "config/help.hpp"
#include "config/parse.hpp"
#include "config/schema.hpp"

namespace cosmic::cli {
namespace {

enum class ConfigFormat { dump, yaml, json };

/// By dotted key, each value as its kind.
std::string settings_json(const config::Configuration& configuration) {
  nlohmann::ordered_json json;
  for (const config::Key& key : config::schema()) {
    if (key.applies_to(configuration)) {
      std::visit([&](const auto& value) { json[key.name] = value; }, key.read(configuration));
    }
  }
  return json.dump(2) + "\n";
}

void print_resolved(const std::vector<std::string>& words, ConfigFormat format) {
  const config::Resolved resolved = config::parse(words, {.missing = config::MissingKeys::leave});
  for (const std::string& note : resolved.notes) {
    tell("note: {}\n", note);
  }
  const config::Configuration& configuration = resolved.configuration;
  fmt::print("{}", format == ConfigFormat::yaml   ? config::to_yaml(configuration)
                   : format == ConfigFormat::json ? settings_json(configuration)
                                                  : config::dump(configuration));
}

}  // namespace

void add_config(Command& app) {
  Command* command =
      app.add_subcommand("config", "Print the settings that a command line results in");
  auto format = std::make_shared<ConfigFormat>(ConfigFormat::dump);  // the callbacks hold it too
  auto document = std::make_shared<bool>(false);
  command->add_flag_callback(
      "--yaml", [format] { *format = ConfigFormat::yaml; },
      "Print them as a recipe that reproduces the same settings");
  command->add_flag_callback(
      "--json", [format] { *format = ConfigFormat::json; }, "Print them as one JSON object");
  command->add_flag("--markdown", *document,
                    "Print docs/configuration.md, which describes all keys, instead");
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([command, format, document] {
    if (*document) {
      fmt::print("{}", config::markdown());
    } else {
      print_resolved(command->remaining(), *format);
    }
  });
}

}  // namespace cosmic::cli
