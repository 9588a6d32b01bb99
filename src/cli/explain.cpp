// `cosmictagger explain`: what a run would need and how fast it would be on a machine that is not
// here. Everything it prints is modelled.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/explained_run.hpp"
#include "cli/machines_page.hpp"
#include "cli/make_it_fit.hpp"
#include "cli/write_prediction_page.hpp"
#include "config/dump.hpp"
#include "config/help.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "core/whole_file.hpp"
#include "machine/family.hpp"
#include "machine/scaling.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

using config::ComputeMode;

struct ExplainOptions {
  bool all = false;
  bool make_it_fit = false;
  bool scaling = false;
  std::string profile;  ///< page to write; none if empty
  bool recompute = false;
  bool stream_optimizer = false;
  int replicas = 1;
  int pipeline = 0;  ///< 0 for run.stages
  std::string output = {};
};

machine::Description machine_of(const config::RunConfig& run) {
  return target::machine_of_compute_mode(model::to_string(run.compute_mode), run.machine);
}

RunChoice asked_choice(const config::Configuration& configuration, const ExplainOptions& options) {
  RunChoice choice = choice_of(configuration);
  choice.replicas = options.replicas;
  choice.pipeline = options.pipeline > 0 ? options.pipeline : choice.pipeline;
  choice.recomputation = options.recompute ? planning::Recomputation::yes : choice.recomputation;
  choice.optimizer_state = options.stream_optimizer ? machine::OptimizerState::streamed
                                                    : machine::OptimizerState::on_chip;
  return choice;
}

void explain_all(const RunChoice& choice, const ExplainOptions& options) {
  std::vector<MachineRow> rows;
  std::vector<machine::ComparedRun> runs;
  for (const std::string& name : machine::built_in_machines()) {
    const machine::Description machine = target::find_machine(name);
    try {
      rows.push_back({machine, predicted_run(name, machine, choice)});
    } catch (const UserError& error) {
      rows.push_back({machine, {.label = name, .prediction = {}, .refused = error.what()}});
    }
    runs.push_back(rows.back().run);
  }
  fmt::print("{}\n{}", words_of(choice), machine::comparison("machine", runs));
  if (!options.output.empty()) {
    write_whole_file(options.output, machines_page(words_of(choice), rows), Existing::replace);
    fmt::print("\nwrote {}\n", options.output);
  }
}

/// The same with one thing changed: what a person would think of first.
std::vector<machine::ComparedRun> changes_of(const machine::Description& machine,
                                             const RunChoice& choice) {
  std::vector<machine::ComparedRun> changes;
  const auto add = [&](const std::string& label, const RunChoice& changed) {
    changes.push_back(predicted_run(label, machine, changed));
  };
  RunChoice larger = choice;
  larger.configuration.run.minibatch_size *= 2;
  add(fmt::format("run.minibatch_size={}", larger.configuration.run.minibatch_size), larger);
  if (choice.configuration.run.precision == config::Precision::float32) {
    RunChoice narrow = choice;
    narrow.configuration.run.precision = narrow_precision(machine);
    add("run.precision=" + model::to_string(narrow.configuration.run.precision), narrow);
  }
  if (choice.configuration.mode.name == config::Mode::train &&
      choice.recomputation == planning::Recomputation::no) {
    RunChoice again = choice;
    again.recomputation = planning::Recomputation::yes;
    add("--recompute", again);
  }
  RunChoice wider = choice;
  wider.replicas *= 2;
  add(fmt::format("--replicas {}", wider.replicas), wider);
  return changes;
}

/// Scaling starts from one replica.
RunChoice alone(RunChoice choice) {
  choice.replicas = 1;
  return choice;
}

std::vector<machine::ScalingRow> rows_of(const machine::Description& machine,
                                         const RunChoice& choice) {
  const machine::ComparedRun one = predicted_run("", machine, alone(choice));
  return machine::scaling(machine, one.prediction, one.events);
}

void explain_one(const RunChoice& choice, const ExplainOptions& options) {
  const machine::Description machine = machine_of(choice.configuration.run);
  if (options.make_it_fit) {
    fmt::print("{}", ways_to_fit(machine, choice));
    return;
  }
  const machine::ExplainedRun explained{words_of(choice), predicted_run("", machine, choice),
                                        changes_of(machine, choice)};
  fmt::print("{}", machine::explanation(machine, explained));
  if (explained.run.prediction.memory.fits != machine::Fit::yes) {
    fmt::print("\nRun again with --make-it-fit for what would make it fit, and its price.\n");
  }
  if (options.scaling) {
    fmt::print("\n{}",
               machine::scaling_text(machine, rows_of(machine, choice), words_of(alone(choice))));
  }
  if (!options.profile.empty()) {
    write_prediction_page(options.profile,
                          {.machine = machine,
                           .prediction = explained.run.prediction,
                           .what_runs = explained.what,
                           .events = explained.run.events,
                           .scaling = rows_of(machine, choice),
                           .configuration = config::to_yaml(choice.configuration)});
  }
}

void explain(const std::vector<std::string>& words, const ExplainOptions& options) {
  COSMIC_REQUIRE(UserError, options.output.empty() || options.all,
                 "--output " << options.output
                             << " was given without --all (the page compares machines); add --all");
  const config::Resolved resolved = config::parse(
      words, {.command = config::Command::explain, .missing = config::MissingKeys::leave});
  for (const std::string& note : resolved.notes) {
    fmt::print(stderr, "note: {}\n", note);
  }
  const RunChoice choice = asked_choice(resolved.configuration, options);
  if (options.all) {
    explain_all(choice, options);
  } else {
    explain_one(choice, options);
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say whether a run would fit a machine, how fast it would be and what bounds it (modelled)");
  command->add_flag("--all", options->all, "Compare all machines that are described");
  command
      ->add_option("--output", options->output, "With --all: write the comparison as a page, too")
      ->type_name("FILE.html");
  command->add_flag("--make-it-fit", options->make_it_fit,
                    "Try smaller batches, fewer bits, recomputation and pipelines, with the price "
                    "of each");
  command->add_flag("--recompute", options->recompute,
                    "Compute activations again in the backward pass instead of keeping them");
  command->add_flag("--stream-optimizer", options->stream_optimizer,
                    "Keep the optimizer's state beside the chip, where there is such memory");
  command->add_flag("--scaling", options->scaling,
                    "Add a table of 1 to 1024 machines that train together");
  command
      ->add_option("--profile", options->profile,
                   "Write a page with everything to this file, and a JSON beside it")
      ->type_name("FILE.html");
  command->add_option("--replicas", options->replicas, "Machines that train together")
      ->capture_default_str();
  command->add_option("--pipeline", options->pipeline,
                      "Machines that share one program, instead of run.stages");
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([command, options] { explain(command->remaining(), *options); });
}

}  // namespace cosmic::cli
