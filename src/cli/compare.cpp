// `cosmictagger compare RUN...`: several trainings on one page.
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "core/whole_file.hpp"
#include "report/comparison/comparison_page.hpp"

namespace cosmic::cli {
namespace {

using report::comparison::ComparedRun;

struct CompareOptions {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path output = "comparison.html";
  std::filesystem::path data;
  bool json = false;
};

/// Settings with which a run tags the events of a file.
config::Configuration tagging(const ComparedRun& run, const std::filesystem::path& data) {
  return configuration_from({"run.id=compare", "mode.weights_location=" + run.name + "/checkpoints",
                             "data.file=" + data.string()},
                            config::Command::evaluate);
}

void evaluate_all(std::vector<ComparedRun>& runs, const std::filesystem::path& data) {
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  for (ComparedRun& run : runs) {
    const config::Configuration configuration = tagging(run, data);
    run.evaluated = report::evaluation::measure(
        configuration, target_for(configuration.run.compute_mode), console.log());
  }
}

void draw_events(std::vector<ComparedRun>& runs, const std::filesystem::path& data) {
  // Whatever there is to say about weights and files was said when they were evaluated.
  RunConsole console = RunConsole::without_file(output::LogLevel::error);
  const std::vector<report::comparison::ShownEvent> shown =
      report::comparison::events_to_show(runs);
  for (ComparedRun& run : runs) {
    std::vector<report::evaluation::EventResult> events;
    for (const report::comparison::ShownEvent& event : shown) {
      events.push_back(run.evaluated->events.at(event.number));
    }
    const config::Configuration configuration = tagging(run, data);
    run.views = report::evaluation::view(configuration, target_for(configuration.run.compute_mode),
                                         console.log(), events);
  }
}

void compare(const CompareOptions& options, Existing existing) {
  COSMIC_REQUIRE(UserError, options.runs.size() > 1,
                 "one run cannot be compared with nothing; name the folders of two or more");
  OutputRule rule{.existing = existing, .inputs = {}};
  for (const std::filesystem::path& run : options.runs) {
    rule.inputs.push_back(run / "config.yaml");
    rule.inputs.push_back(run / "train_metrics.csv");
    rule.inputs.push_back(run / "test_metrics.csv");
  }
  if (!options.data.empty()) {
    rule.inputs.push_back(options.data);
  }
  if (!options.json) {
    require_output(options.output, rule);
  }
  std::vector<ComparedRun> runs;
  for (const std::filesystem::path& folder : options.runs) {
    runs.push_back(report::comparison::read_run(folder));
  }
  if (!options.data.empty()) {
    evaluate_all(runs, options.data);
  }
  if (options.json) {
    fmt::print("{}", report::comparison::to_json(runs));
    return;
  }
  if (!options.data.empty()) {
    draw_events(runs, options.data);
  }
  write_whole_file(options.output, report::comparison::comparison_page(runs), existing);
  for (const ComparedRun& run : runs) {
    const report::comparison::Mean loss = run.final_loss();
    const report::comparison::Mean iou = run.final_mean_iou();
    fmt::print("{}: {} updates, loss {:.4g}, mean IoU {:.4g}\n", run.name,
               run.curve.training.back().step + 1, loss.value, iou.value);
  }
  fmt::print("wrote {}\n", options.output.string());
}

}  // namespace

void add_compare(Command& app) {
  auto options = std::make_shared<CompareOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "compare", "Compare trainings on one page: curves, settings, figures, the same events");
  command->add_option("RUN", options->runs, "Folders of trainings, as output_dir says")->required();
  command->add_option("--output", options->output, "The page to write")->capture_default_str();
  command->add_option("--data", options->data,
                      "Labelled events that each of them tags with its newest weights");
  command->add_flag("--json", options->json, "Print the numbers as JSON, and write no page");
  const OverwriteFlag overwrite(*command);
  command->callback([options, overwrite] { compare(*options, overwrite.existing()); });
}

}  // namespace cosmic::cli
