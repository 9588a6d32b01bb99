// `cosmictagger compile`: the programs of a run as a file, for `cosmictagger run --artifact`.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/what_fits.hpp"
#include "compile/artifact/artifact_file.hpp"
#include "config/dump.hpp"
#include "core/error.hpp"
#include "model/uresnet.hpp"
#include "run/run_programs.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

struct CompileFlags {
  std::filesystem::path output;
  data::DenseShape shape{0, 0};
};

void compile_as(const config::Configuration& configuration, const CompileFlags& flags,
                const OutputRule& rule) {
  COSMIC_REQUIRE(UserError, configuration.mode.name != config::Mode::iotest,
                 "mode=iotest has no program to compile (it only reads events); use mode=train or "
                 "mode=inference");
  require_output(flags.output, rule);
  const std::string target = target_for(configuration.run.compute_mode);
  const Support here = target::availability_of(target);
  COSMIC_REQUIRE(
      TargetError, here.ok,
      "target '" << target
                 << "' cannot be compiled for on this machine (a program is compiled for "
                    "the device that it will run on): "
                 << here.why_not);
  const data::DenseShape shape = image_shape(configuration, flags.shape);
  ProgressBar bar(0.3);  // small networks are compiled before anyone could read it
  const run::RunPrograms programs(
      configuration, target, shape,
      [&](double done, const std::string& what) { bar.update(done, what); });
  bar.finish();
  compile::artifact::save_artifact(
      flags.output, programs.plans(), rule.existing,
      {{compile::artifact::kConfigurationNote, config::to_yaml(configuration)}});
  fmt::print("Compiled  mode={} of {} for target {}, {} events of {} x {}, in {}\n",
             model::to_string(configuration.mode.name),
             model::UResNet(configuration.network).name(), target, configuration.run.minibatch_size,
             shape.rows, shape.columns,
             marked(fmt::format("{:.2f} s", programs.seconds()), programs.provenance()));
  fmt::print("Written   {} ({} programs, {:.1f} MB; running them takes {:.1f} MB{})\n",
             flags.output.string(), programs.plans().size(),
             1e-6 * static_cast<double>(std::filesystem::file_size(flags.output)),
             1e-6 * static_cast<double>(programs.memory_bytes()),
             programs.provenance() == Provenance::measured ? "" : " on the host of a modelled run");
}

}  // namespace

void add_compile(Command& app) {
  auto flags = std::make_shared<CompileFlags>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "compile", "Compile the programs of a run (mode=train or mode=inference) into a file");
  command->add_option("--output", flags->output, "The file to write, such as a21.cosmicx")
      ->required();
  command->add_option(
      "--rows", flags->shape.rows,
      "Rows of the images; by default those of data.file if it exists, otherwise the detector's");
  command->add_option("--columns", flags->shape.columns, "Columns of the images");
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([flags, command, overwrite] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.command = config::Command::compile,
                                                   .missing = config::MissingKeys::leave});
    const OutputRule rule = output_rule(overwrite, configuration, command->remaining());
    run_or_say_what_fits(configuration, TrainingPrograms::step_and_validation,
                         [&] { compile_as(configuration, *flags, rule); });
  });
}

}  // namespace cosmic::cli
