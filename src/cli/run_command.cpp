#include "cli/run_command.hpp"

#include <fmt/core.h>

#include "cli/standard_streams.hpp"
#include "cli/together.hpp"
#include "core/error.hpp"
#include "data/detector/geometry.hpp"
#include "model/enum_text.hpp"
#include "run/run_data.hpp"
#include "run/weights.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

// By the one command line that a process has.
bool quiet_asked = false;
bool json_asked = false;

}  // namespace

QuietFlag::QuietFlag(Command& command, const std::string& meaning) {
  command.add_flag_callback(
      "--quiet", [] { quiet_asked = true; }, meaning);
}

JsonFlag::JsonFlag(Command& command) {
  command.add_flag_callback(
      "--json", [] { json_asked = true; },
      "Print one JSON object at the end; lines of the log go to the error stream");
}

config::Configuration configuration_from(const std::vector<std::string>& words,
                                         config::Command command) {
  const bool tags = command == config::Command::infer || command == config::Command::evaluate;
  const config::Mode mode = command == config::Command::iotest ? config::Mode::iotest
                            : tags                             ? config::Mode::inference
                                                               : config::Mode::train;
  return configuration_from(words, config::ParseOptions{.mode = mode, .command = command});
}

config::Configuration configuration_from(const std::vector<std::string>& words,
                                         const config::ParseOptions& options) {
  config::ParseOptions with_weights = options;
  with_weights.weights = run::weights_record;
  config::Resolved resolved = config::parse(words, with_weights);
  tell_of_settings(resolved.notes, resolved.configuration);
  return std::move(resolved.configuration);
}

data::DenseShape image_shape(const config::Configuration& configuration,
                             const data::DenseShape& asked) {
  COSMIC_REQUIRE(UserError, asked.rows >= 0 && asked.columns >= 0,
                 "an image of " << asked.rows << " rows and " << asked.columns
                                << " columns (a size cannot be negative); give positive --rows "
                                   "and --columns, or neither for the size of the events");
  COSMIC_REQUIRE(UserError, (asked.rows > 0) == (asked.columns > 0),
                 "an image of " << asked.rows << " rows and " << asked.columns
                                << " columns (0 means the size of the events); give both --rows "
                                   "and --columns or neither");
  if (asked.rows > 0) {
    return asked;
  }
  const bool has_events = run::has_events(configuration, run::Stream::training);
  return data::dense_shape(
      has_events ? run::open_events(configuration)->meta() : data::detector::meta_of(0),
      run::dense_options(configuration).downsample);
}

std::string target_for(config::ComputeMode mode) {
  return target::target_of_compute_mode(model::to_string(mode));
}

RunConsole::RunConsole(const std::filesystem::path& log_file)
    : quiet_(quiet_asked),
      json_(json_asked),
      log_(
          log_file,
          [this](const std::string& line) {
            bar_.finish();
            if (json_) {
              tell("{}\n", line);
            } else {
              print_text(line + "\n");
            }
          },
          output::RunLog::Opening::later) {
  if (quiet_) {
    log_.set_console_least(output::LogLevel::warning);
  }
}

RunConsole::RunConsole(output::LogLevel least)
    : quiet_(quiet_asked),
      json_(json_asked),
      log_(
          {},
          [this](const std::string& line) {
            bar_.finish();
            tell("{}\n", line);
          },
          output::RunLog::Opening::now, least) {}

RunConsole::RunConsole(output::RunLog::Console console, output::LogLevel least)
    : quiet_(true),
      json_(false),
      log_({}, std::move(console), output::RunLog::Opening::now, least) {}

RunConsole RunConsole::of_follower(const std::string& name) {
  return {[name](const std::string& line) { tell("{}: {}\n", name, line); },
          output::LogLevel::warning};
}

void RunConsole::show(double done, const std::string& text) {
  if (quiet_) {
    return;
  }
  bar_.update(done, text);
  if (!bar_.broken().empty() && !std::exchange(told_of_broken_bar_, true)) {
    log_.warning("The error stream can no longer be written (" + bar_.broken() +
                 "); the run goes on without showing its progress.");
  }
}

void RunConsole::print_json(const nlohmann::ordered_json& report) {
  if (json_) {
    print_text(report.dump(2) + "\n");
  }
}

void RunConsole::print_text(const std::string& text) {
  if (const std::optional<std::string> reason = cli::show(stdout, text)) {
    log_.warning("Standard output can no longer be written (" + *reason +
                 "); the run goes on, and this file has what it has to say.");
  }
}

}  // namespace cosmic::cli
