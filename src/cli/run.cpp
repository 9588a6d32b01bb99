// `cosmictagger run --artifact FILE`: a training or inference run with programs that were compiled
// before. What the file was compiled for is where its settings begin.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "compile/artifact/artifact_file.hpp"

namespace cosmic::cli {
namespace {

/// Only who learns needs labels to run.
bool trains(const compile::artifact::Artifact& artifact) {
  return std::any_of(artifact.programs.begin(), artifact.programs.end(), [](const auto& program) {
    return compile::artifact::find_fact(program.made_from, "input label") != nullptr;
  });
}

void run_artifact(const std::filesystem::path& file, const std::vector<std::string>& words,
                  const OverwriteFlag& overwrite) {
  const compile::artifact::Artifact artifact = compile::artifact::load_artifact(file);
  const bool training = trains(artifact);
  config::ParseOptions options;
  options.mode = training ? config::Mode::train : config::Mode::inference;
  if (const std::string* settings =
          compile::artifact::find_fact(artifact.notes, compile::artifact::kConfigurationNote)) {
    options.recipe = {"settings in " + file.string(), *settings};
  }
  config::Configuration configuration = configuration_from(words, options);
  configuration.run.executable = file.string();
  if (training) {
    train_as(configuration);
  } else {
    infer_as(configuration, output_rule(overwrite, configuration, words));
  }
}

}  // namespace

void add_run(Command& app) {
  auto file = std::make_shared<std::filesystem::path>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "run",
      "Train or tag events with programs written by `cosmictagger compile`, without compiling");
  command->add_option("--artifact", *file, "A file written by `cosmictagger compile`")->required();
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback(
      [file, command, overwrite] { run_artifact(*file, command->remaining(), overwrite); });
}

}  // namespace cosmic::cli
