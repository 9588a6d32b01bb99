// `cosmictagger evaluate`: how good a trained network is on labelled events, as a page and as JSON.
#include <fmt/core.h>

#include <optional>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/shown_inference.hpp"
#include "cli/together.hpp"
#include "cli/what_fits.hpp"
#include "core/make_folder.hpp"
#include "report/evaluation/json.hpp"
#include "report/evaluation/write_report.hpp"
#include "run/output_folder.hpp"
#include "run/processes.hpp"

namespace cosmic::cli {
namespace {

/// One process of those that evaluate together: it is heard of only if it is in trouble.
void follow_evaluation(const config::Configuration& configuration, comm::Communicator& others) {
  RunConsole console = RunConsole::of_follower(run::Processes(&others).name());
  report::evaluation::measure(configuration, target_for(configuration.run.compute_mode),
                              console.log(), {}, &others);
}

/// The process that speaks: one that is alone, or the first of several.
void lead_evaluation(const config::Configuration& configuration, const OutputRule& rule,
                     comm::Communicator* others) {
  const std::string target = target_for(configuration.run.compute_mode);
  const report::evaluation::ReportFiles files = report::evaluation::report_files(configuration);
  const std::filesystem::path folder = run::output_folder(configuration);
  require_appendable(folder / "process.log", rule);
  require_output(files.json, rule);
  require_output(files.page, rule);
  RunConsole console(folder / "process.log");
  console.log().info("Running Evaluation");
  PublishedJob job("evaluate", configuration, target, console.log());
  infer::InferenceHooks hooks = shown_by(console, job);
  std::optional<report::evaluation::ReportWriter> report;
  hooks.ready = [&] {
    make_folder(folder, "output_dir");
    console.log().open();
    report.emplace(files, rule.existing);
  };
  const report::evaluation::Evaluation evaluation =
      report::evaluation::measure(configuration, target, console.log(), hooks, others);
  report->write(evaluation);
  console.finish();
  const infer::Confusion all = evaluation.all();
  console.print(
      "\nEvaluated {} events: neutrino efficiency {:.1f} %, purity {:.1f} %; mean IoU {:.1f} %.\n"
      "  report   {}\n  numbers  {}\n",
      evaluation.events.size(), 100 * all.efficiency(report::evaluation::kNeutrinoClass),
      100 * all.purity(report::evaluation::kNeutrinoClass), 100 * evaluation.score("Average/mIoU"),
      files.page.string(), files.json.string());
  console.print_json(nlohmann::ordered_json::parse(report::evaluation::to_json(evaluation)));
}

void evaluate_as(const config::Configuration& configuration, const OutputRule& rule) {
  // Replicas and the seed of poprun mean nothing here, so the report has the settings as given.
  work_together(configuration, [&](const config::Configuration&, comm::Communicator* others) {
    if (run::Processes(others).lead()) {
      lead_evaluation(configuration, rule, others);
    } else {
      follow_evaluation(configuration, *others);
    }
  });
}

}  // namespace

void add_evaluate(Command& app) {
  Command* command = app.add_subcommand(
      "evaluate", "Measure a trained network on labelled events, and write a report");
  const OverwriteFlag overwrite(*command);
  const QuietFlag quiet(*command);
  const JsonFlag json(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([command, overwrite] {
    const config::Configuration configuration =
        configuration_from(command->remaining(), config::Command::evaluate);
    const OutputRule rule = output_rule(overwrite, configuration, command->remaining());
    run_or_say_what_fits(configuration, TrainingPrograms::step,
                         [&] { evaluate_as(configuration, rule); });
  });
}

}  // namespace cosmic::cli
