// `cosmictagger calibrate`: a description of a machine, fitted to what such a machine did.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/whole_file.hpp"
#include "machine/write_description.hpp"
#include "run/calibrate.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

struct Options {
  std::string machine;
  std::string output;
  std::string as_record;
  bool json = false;
  run::ExplainOptions asked = {};
};

/// Words of the command line: files, and settings for those that do not say what ran.
struct Words {
  std::vector<std::string> files;
  std::vector<std::string> settings;
};

Words sorted(const std::vector<std::string>& words) {
  Words result;
  for (const std::string& word : words) {
    (word.find('=') == std::string::npos ? result.files : result.settings).push_back(word);
  }
  return result;
}

nlohmann::ordered_json calibration_json(const run::Calibration& calibration) {
  using Json = nlohmann::ordered_json;
  Json changes = Json::array();
  for (const run::Change& change : calibration.changes) {
    changes.push_back({{"figure", change.figure},
                       {"before", change.before},
                       {"after", change.after},
                       {"unit", change.unit},
                       {"records", change.records},
                       {"stopped", change.stopped}});
  }
  // Ratios of what is predicted to what was observed.
  Json predictions = Json::array();
  for (const run::Judgement& judgement : calibration.judgements) {
    predictions.push_back({{"record", judgement.record},
                           {"of", to_string(judgement.kind)},
                           {"before", judgement.before},
                           {"fitted", judgement.after},
                           {"left_out", judgement.left_out ? Json(*judgement.left_out) : Json()}});
  }
  return {{"machine", calibration.machine.name},
          {"stack", calibration.machine.stack().name},
          {"changes", std::move(changes)},
          {"predicted_over_observed", std::move(predictions)}};
}

void calibrate(const Options& options, const std::vector<std::string>& given,
               const OverwriteFlag& overwrite) {
  const Words words = sorted(given);
  COSMIC_REQUIRE(UserError, !words.files.empty(),
                 "no record was given (there is nothing to fit to); give files that "
                 "measure-performance --record, a port kit or a profiler wrote");
  COSMIC_REQUIRE(
      UserError, options.as_record.empty() || words.files.size() == 1,
      "--as-record writes one record, and " << words.files.size() << " files were given; give one");
  std::vector<run::Record> records;
  bool settings_used = words.settings.empty();
  for (const std::string& file : words.files) {
    run::Record record = run::read_record(file);
    if (record.settings.empty()) {
      record.settings = words.settings;
      settings_used = true;
    }
    records.push_back(std::move(record));
  }
  COSMIC_REQUIRE(UserError, settings_used,
                 words.settings.front() << " has no effect (" << words.files.front()
                                        << " says itself what ran, and so does each file given); "
                                           "leave settings out");
  OutputRule rule{overwrite.existing(), {words.files.begin(), words.files.end()}};
  rule.inputs.emplace_back(options.machine);
  if (!options.as_record.empty()) {
    require_output(options.as_record, rule);
    write_whole_file(options.as_record, run::to_json(records.front()), rule.existing);
    fmt::print("wrote {}\n", options.as_record);
    return;
  }
  COSMIC_REQUIRE(UserError, !options.machine.empty(),
                 "--machine is missing (calibration starts from a description); name one of "
                 "`cosmictagger explain --all`, or give a file");
  if (!options.output.empty()) {
    require_output(options.output, rule);
  }
  const run::Calibration calibration =
      run::calibrate(target::find_machine(options.machine), records, options.asked);
  if (options.json) {
    fmt::print("{}\n", calibration_json(calibration).dump(2));
  } else {
    fmt::print("{}", run::text_of(calibration));
  }
  if (!options.output.empty()) {
    write_whole_file(options.output, machine::to_yaml(calibration.machine), rule.existing);
    if (!options.json) {
      fmt::print("\nwrote {}; use it with run.machine={}\n", options.output, options.output);
    }
  }
}

}  // namespace

void add_calibrate(Command& app) {
  auto options = std::make_shared<Options>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "calibrate", "Fit the description of a machine to records of what such a machine did");
  command->add_option("--machine", options->machine, "Description to start from: a name, or a file")
      ->type_name("NAME|FILE");
  command->add_option("--output", options->output, "Write the fitted description to this file")
      ->type_name("FILE.yaml");
  command
      ->add_option("--as-record", options->as_record,
                   "Only write what one trace or log says as our JSON record, with the settings "
                   "given")
      ->type_name("FILE.json");
  command
      ->add_option("--stack", options->asked.stack,
                   "Software that ran it, by a name of the machine's description")
      ->type_name("NAME");
  command->add_option("--replicas", options->asked.replicas, "Machines that trained together")
      ->between(1, kMostReplicas)
      ->capture_default_str();
  command->add_option("--share", options->asked.share, "Share of one machine that was used")
      ->between(0.0, 1.0)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // files, and settings of those that have none
  command->footer(
      "FILES are read by their content: records of measure-performance --record and of port kits, "
      "traces of\ntorch.profiler, memory logs of Habana, text of sntilestat. Settings (key=value) "
      "hold for files that do\nnot say what ran. See docs/calibrate.md.");
  command->callback(
      [command, options, overwrite] { calibrate(*options, command->remaining(), overwrite); });
}

}  // namespace cosmic::cli
