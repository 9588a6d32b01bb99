// What the commands that run a network have in common: settings from the command line, a target
// from the compute mode, and a log that shares the terminal with a progress bar.
#pragma once

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress_bar.hpp"
#include "config/parse.hpp"
#include "core/output_rule.hpp"
#include "data/dense_image.hpp"
#include "output/run_log.hpp"

namespace cosmic::cli {

/// Settings of a command that is one mode: train, infer, evaluate or iotest. Notes are printed.
config::Configuration configuration_from(const std::vector<std::string>& words,
                                         config::Command command);
/// The configuration of any command. What belongs to the weights that it would take up comes from
/// them.
config::Configuration configuration_from(const std::vector<std::string>& words,
                                         const config::ParseOptions& options);

/// The image that a network of these settings sees: of `asked` rows and columns if they are given,
/// otherwise of the events in data.file if it exists, otherwise of the detector.
data::DenseShape image_shape(const config::Configuration& configuration,
                             const data::DenseShape& asked);

/// Is a training shown in a browser while it runs?
enum class Watching { no, in_browser };

/// A training or inference run as its settings say, to its end.
void train_as(const config::Configuration& configuration, Watching watching = Watching::no);
void infer_as(const config::Configuration& configuration, const OutputRule& rule);

/// Throws TargetError if this build has none for the mode.
std::string target_for(config::ComputeMode mode);

/// --quiet of a command that runs a network: the terminal has warnings and errors alone.
class QuietFlag {
 public:
  /// Adds it to the command. Consoles that are made after it was given are quiet.
  explicit QuietFlag(Command& command, const std::string& meaning =
                                           "Say nothing but warnings and errors; process.log has "
                                           "everything");
};

/// --json of a command that runs a network: standard output has one JSON object at the end, and
/// what the log says goes to the error stream.
class JsonFlag {
 public:
  /// Adds it to the command. Consoles that are made after it was given obey it.
  explicit JsonFlag(Command& command);
};

/// Lines of the log above the bar. The log's file is opened when everything is checked.
class RunConsole {
 public:
  explicit RunConsole(const std::filesystem::path& log_file);
  /// Of a command that has no log file: what is less than `least` is not said.
  static RunConsole without_file(output::LogLevel least) { return RunConsole(least); }
  /// Of a process that others speak for: its trouble alone, on the error stream, with its name.
  static RunConsole of_follower(const std::string& name);

  output::RunLog& log() { return log_; }
  void show(double done, const std::string& text);
  void finish() { bar_.finish(); }
  /// On standard output alone. What this and the others print is for who watches: a terminal that
  /// is gone does not end a run, and the log says so once.
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!quiet_ && !json_) {
      print_text(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
  }
  /// The report of a command with --json; without it nothing is printed.
  void print_json(const nlohmann::ordered_json& report);

 private:
  explicit RunConsole(output::LogLevel least);
  RunConsole(output::RunLog::Console console, output::LogLevel least);
  void print_text(const std::string& text);

  bool quiet_;
  bool json_;
  ProgressBar bar_;
  bool told_of_broken_bar_ = false;
  output::RunLog log_;
};

}  // namespace cosmic::cli
