// `cosmictagger explain`: what a run would need and how fast it would be on a machine that is not
// here. Everything it prints is modelled.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/settings_help.hpp"
#include "cli/standard_streams.hpp"
#include "config/dump.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/utc_time.hpp"
#include "core/whole_file.hpp"
#include "model/published_networks.hpp"
#include "report/prediction/prediction_json.hpp"
#include "report/prediction/write_prediction_page.hpp"
#include "run/explain.hpp"
#include "run/explain_options.hpp"
#include "run/layer_comparison.hpp"
#include "run/make_it_fit.hpp"

namespace cosmic::cli {
namespace {

struct Options {
  bool all = false;
  bool json = false;
  bool make_it_fit = false;
  bool scaling = false;
  std::string profile;   ///< page to write; none if empty
  std::string measured;  ///< profile to compare with; none if empty
  std::string output = {};
  run::ExplainOptions asked = {};
};

void explain_all(const run::RunChoice& choice, const Options& options, Existing existing) {
  const std::vector<report::machines::MachineRow> rows = run::explain_everywhere(choice);
  std::vector<machine::ComparedRun> runs;
  for (const report::machines::MachineRow& row : rows) {
    runs.push_back(row.run);
  }
  fmt::print("{}\n{}", run::words_of(choice), machine::comparison("machine", runs));
  if (!options.output.empty()) {
    write_whole_file(options.output, report::machines::machines_page(run::words_of(choice), rows),
                     existing);
    fmt::print("\nwrote {}\n", options.output);
  }
}

report::prediction::PredictionReport report_of(const machine::Description& machine,
                                               const run::RunChoice& choice,
                                               const machine::ExplainedRun& explained,
                                               const Options& options) {
  return {.machine = machine,
          .prediction = explained.run.prediction,
          .what_runs = explained.what,
          .events = explained.run.events,
          .scaling = run::scaling_of(machine, choice),
          .configuration = "# " + run::command_of({"SETTINGS"}, options.asked) +
                           "\n# SETTINGS, with what the options change of them:\n" +
                           config::to_yaml(run::applied(choice))};
}

/// Only the comparison: the prediction alone is what explain says without --measured.
void explain_measured(const machine::Description& machine, const run::RunChoice& choice,
                      const std::string& file) {
  const run::MeasuredProfile profile = run::read_profile(file);
  run::require_same_run(profile, choice);
  const machine::Prediction prediction = run::predicted_run("", machine, choice).prediction;
  fmt::print("{}\n{}", run::words_of(choice),
             run::text_of(run::compared(prediction, profile), profile, machine.name));
}

void explain_one(const run::RunChoice& choice, const Options& options, Existing existing) {
  const machine::Description machine = run::machine_of(choice.configuration.run);
  if (!options.measured.empty()) {
    explain_measured(machine, choice, options.measured);
    return;
  }
  if (options.make_it_fit) {
    fmt::print("{}", run::ways_to_fit(machine, choice));
    return;
  }
  const machine::ExplainedRun explained = run::explain(machine, choice);
  if (options.json) {
    report::prediction::PredictionReport report = report_of(machine, choice, explained, options);
    report.date = utc_now();
    fmt::print("{}", report::prediction::to_json(report));
  } else {
    fmt::print("{}", machine::explanation(machine, explained));
  }
  if (!options.json && explained.run.prediction.memory.fits != machine::Fit::yes) {
    fmt::print(
        "\nRun again with --make-it-fit to see what would make it fit, and what that costs.\n");
  }
  if (options.scaling) {
    fmt::print("\n{}", machine::scaling_text(machine, run::scaling_of(machine, choice),
                                             run::words_of(run::alone(choice))));
  }
  if (!options.profile.empty()) {
    report::prediction::write_prediction_page(
        options.profile, report_of(machine, choice, explained, options), existing);
    const std::string wrote =
        fmt::format("wrote {} and {}\n", options.profile,
                    report::prediction::json_beside(options.profile).string());
    options.json ? tell("{}", wrote) : fmt::print("{}", wrote);
  }
}

/// Options that ask for one kind of answer, beside one that asks for another.
void require_one_answer(const Options& options) {
  const std::string other = options.all ? "--all" : options.make_it_fit ? "--make-it-fit" : "";
  COSMIC_REQUIRE(UserError,
                 options.measured.empty() || (other.empty() && options.profile.empty() &&
                                              !options.scaling && !options.json),
                 "--measured was given with another question (it prints one comparison and "
                 "nothing else); leave out --all, --make-it-fit, --profile, --scaling and --json");
  COSMIC_REQUIRE(UserError, !(options.all && options.make_it_fit),
                 "--all and --make-it-fit were both given (one compares machines, the other "
                 "settings on one machine); give one of them");
  for (const auto& [given, option, what] :
       {std::tuple(!options.profile.empty(), "--profile", "page"),
        std::tuple(options.scaling, "--scaling", "table"),
        std::tuple(options.json, "--json", "answer")}) {
    COSMIC_REQUIRE(UserError, other.empty() || !given,
                   option << " was given with " << other << " (its " << what
                          << " is about one prediction, and " << other
                          << " makes many); leave one of them out");
  }
  COSMIC_REQUIRE(UserError, !(options.json && options.scaling),
                 "--json and --scaling were both given (the JSON has the table of machines that "
                 "train together already); leave --scaling out");
}

/// --published names the network; another one beside it would be ignored.
void require_one_network(const std::vector<std::string>& words, const Options& options) {
  for (const std::string& word : words) {
    const bool names_network = word.starts_with("network=") || word.starts_with("network.");
    COSMIC_REQUIRE(UserError, options.asked.published.empty() || !names_network,
                   word << " was given with --published " << options.asked.published
                        << " (that is the network, and settings of another have no effect); "
                           "leave one of them out");
  }
}

void explain(const std::vector<std::string>& words, const Options& options,
             const OverwriteFlag& overwrite) {
  require_one_answer(options);
  require_one_network(words, options);
  COSMIC_REQUIRE(UserError, options.output.empty() || options.all,
                 "--output " << options.output
                             << " was given without --all (the page compares machines); add --all");
  const config::Resolved resolved = config::parse(
      words, {.command = config::Command::explain, .missing = config::MissingKeys::leave});
  for (const std::string& note : resolved.notes) {
    tell("note: {}\n", note);
  }
  const run::RunChoice choice = run::choice_of(resolved.configuration, options.asked);
  const OutputRule rule = output_rule(overwrite, resolved.configuration, words);
  if (!options.output.empty()) {
    require_output(options.output, rule);
  }
  if (!options.profile.empty()) {
    require_output(report::prediction::json_beside(options.profile), rule);
    require_output(options.profile, rule);
  }
  if (options.all) {
    explain_all(choice, options, rule.existing);
  } else {
    explain_one(choice, options, rule.existing);
  }
}

}  // namespace

void add_explain(Command& app) {
  auto options = std::make_shared<Options>();  // the callback holds it too
  Command* command = app.add_subcommand("explain",
                                        "Predict whether a run would fit a machine, how fast it "
                                        "would be and what limits it (modelled)");
  command->add_flag("--all", options->all, "Compare all known machines");
  command
      ->add_option("--output", options->output, "With --all: also write the comparison as a page")
      ->type_name("FILE.html");
  command->add_flag(
      "--make-it-fit", options->make_it_fit,
      "Try smaller batches, fewer bits, recomputation and pipelines, and show what each costs");
  command->add_flag("--recompute", options->asked.recompute,
                    "Recompute activations in the backward pass instead of keeping them");
  command->add_flag("--stream-optimizer", options->asked.stream_optimizer,
                    "Keep the optimizer's state in memory beside the chip, if there is any");
  command->add_flag("--scaling", options->scaling,
                    "Add a table of 1 to 1024 machines that train together");
  command
      ->add_option("--profile", options->profile,
                   "Write a page with everything to this file, and JSON next to it")
      ->type_name("FILE.html");
  command->add_flag("--json", options->json, "Print the prediction as JSON");
  command
      ->add_option("--measured", options->measured,
                   "Compare with a profile of the same run, layer by layer: the profile.json that "
                   "run.profile=true wrote on that machine")
      ->type_name("PROFILE.json");
  command->add_option("--replicas", options->asked.replicas, "Machines that train together")
      ->between(1, kMostReplicas)
      ->capture_default_str();
  command
      ->add_option("--pipeline", options->asked.pipeline,
                   "Machines that share one program, instead of run.stages")
      ->between(0, kMostStages);
  command
      ->add_option("--stack", options->asked.stack,
                   "Software that runs the program, by a name of the machine's description; the "
                   "first of the description unless given")
      ->type_name("NAME");
  command
      ->add_option("--published", options->asked.published,
                   "A network whose speed others published, instead of network.*: " +
                       model::published_network_list())
      ->type_name("NAME");
  command
      ->add_option("--share", options->asked.share,
                   "Share of one machine, such as 0.5 for half the tiles of an RDU")
      ->between(0.0, 1.0)
      ->capture_default_str();
  command
      ->add_option("--iterations-per-call", options->asked.iterations_per_call,
                   "Steps for each call from the host, on machines that loop by themselves")
      ->between(1, kMostReplicas)
      ->capture_default_str();
  command
      ->add_option("--temporary-share", options->asked.temporary_share,
                   "Share of a tile for temporaries of a convolution, instead of the machine's own")
      ->between(0.0, 1.0);
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback(
      [command, options, overwrite] { explain(command->remaining(), *options, overwrite); });
}

}  // namespace cosmic::cli
