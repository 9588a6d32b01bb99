// `cosmictagger infer`: tags the events of a file.
#include <fmt/core.h>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/shown_inference.hpp"
#include "cli/together.hpp"
#include "cli/what_fits.hpp"
#include "infer/inference.hpp"
#include "run/output_folder.hpp"
#include "run/processes.hpp"

namespace cosmic::cli {
namespace {

/// One process of those that tag together: it is heard of only if it is in trouble.
void follow_inference(const config::Configuration& configuration, const OutputRule& rule,
                      comm::Communicator& others) {
  RunConsole console = RunConsole::of_follower(run::Processes(&others).name());
  infer::infer(configuration, target_for(configuration.run.compute_mode), console.log(), {}, rule,
               &others);
}

/// The process that speaks: one that is alone, or the first of several.
void lead_inference(const config::Configuration& configuration, const OutputRule& rule,
                    comm::Communicator* others) {
  const std::string target = target_for(configuration.run.compute_mode);
  const std::filesystem::path folder = run::output_folder(configuration);
  RunConsole console(folder / "process.log");
  console.log().set_console_pause(configuration.run.log_every.seconds);
  console.log().info("Running Inference");
  PublishedJob job("infer", configuration, target, console.log());
  const infer::InferenceSummary summary =
      infer::infer(configuration, target, console.log(), shown_by(console, job), rule, others);
  console.finish();
  console.print("\nTagged {} events in {}.\n  predictions  {}\n  scores       {}\n", summary.events,
                marked(fmt::format("{:.1f} s", summary.seconds), summary.provenance),
                summary.predictions.string(), summary.report.string());
  nlohmann::ordered_json scores = nlohmann::ordered_json::object();
  for (const output::Metric& metric : summary.scores) {
    scores[metric.key] = metric.value;
  }
  console.print_json({{"events", summary.events},
                      {"seconds", summary.seconds},
                      {"provenance", to_string(summary.provenance)},
                      {"weights", summary.weights.string()},
                      {"predictions", summary.predictions.string()},
                      {"report", summary.report.string()},
                      {"scores", std::move(scores)}});
}

void run_inference(const config::Configuration& configuration, const OutputRule& rule) {
  work_together(configuration,
                [&](const config::Configuration& settled, comm::Communicator* others) {
                  if (run::Processes(others).lead()) {
                    lead_inference(settled, rule, others);
                  } else {
                    follow_inference(settled, rule, *others);
                  }
                });
}

}  // namespace

void infer_as(const config::Configuration& configuration, const OutputRule& rule) {
  run_or_say_what_fits(configuration, TrainingPrograms::step,
                       [&] { run_inference(configuration, rule); });
}

void add_infer(Command& app) {
  Command* command = app.add_subcommand(
      "infer", "Tag the events of a file as the reference does: its settings, log and outputs");
  const OverwriteFlag overwrite(*command);
  const QuietFlag quiet(*command);
  const JsonFlag json(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([command, overwrite] {
    const config::Configuration configuration =
        configuration_from(command->remaining(), config::Command::infer);
    infer_as(configuration, output_rule(overwrite, configuration, command->remaining()));
  });
}

}  // namespace cosmic::cli
