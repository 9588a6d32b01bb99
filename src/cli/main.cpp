// The program: reads the command line, runs one subcommand, turns errors into exit statuses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/clean_up_on_signal.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/common_mistakes.hpp"
#include "cli/exit_status.hpp"
#include "cli/first_steps.hpp"
#include "cli/reference_spelling.hpp"
#include "cli/settings_help.hpp"
#include "cli/standard_streams.hpp"
#include "cli/together.hpp"
#include "cli/what_fits.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "model/enum_text.hpp"

namespace {

using cosmic::cli::kFinished;
using cosmic::cli::kInternalError;
using cosmic::cli::kUsageError;

int report(std::string_view message, int status) {
  cosmic::cli::let_first_speak();
  std::cout.flush();
  // In one piece: other processes may write to the same terminal.
  std::cerr << "cosmictagger: error: " + std::string(message) + "\n";
  return status;
}

int report_too_large() {
  return report(
      "out of memory (the step does not fit this machine); use a smaller image, batch or network",
      cosmic::cli::kDoesNotFit);
}

/// The parser would only say that the word was not expected; this names the nearest command, or
/// `also`, which is one that was taken away where it was meant.
void require_known_command(const cosmic::cli::Command& program, std::span<const std::string> words,
                           std::string_view also = "") {
  const std::vector<std::string> names = program.subcommand_names();
  if (names.empty() || (!words.empty() && words.front().starts_with('-'))) {
    return;
  }
  if (words.empty()) {
    throw cosmic::cli::UsageError(
        fmt::format("a command is missing; it must be one of: {}", fmt::join(names, ", ")));
  }
  const std::string meant = cosmic::cli::command_also_called(words.front(), names);
  if (!meant.empty()) {
    throw cosmic::UserError("there is no command '" + words.front() + "'; did you mean '" + meant +
                            "'? `cosmictagger help` lists all commands");
  }
  std::vector<std::string_view> views(names.begin(), names.end());
  if (!also.empty()) {
    views.push_back(also);
  }
  cosmic::model::choose("command", words.front(), views);
  require_known_command(program.subcommand(words.front()), words.subspan(1));
}

std::string version_text() {
  return "cosmictagger " + std::string(cosmic::version) + " (revision " +
         std::string(cosmic::revision) + ", " + std::string(cosmic::build_type) + ", " +
         std::string(cosmic::compiler) + ")";
}

/// In the order of the help: what most people want first.
void add_commands(cosmic::cli::Command& app) {
  app.start_group("Tag and look");
  cosmic::cli::add_tag(app);
  cosmic::cli::add_view(app);
  cosmic::cli::add_serve(app);
  cosmic::cli::add_evaluate(app);
  cosmic::cli::add_infer(app);
  app.start_group("Train");
  cosmic::cli::add_train(app);
  cosmic::cli::add_find_learning_rate(app);
  cosmic::cli::add_compare(app);
  cosmic::cli::add_checkpoint(app);
  cosmic::cli::add_launch(app);
  app.start_group("Events");
  cosmic::cli::add_generate(app);
  cosmic::cli::add_data(app);
  cosmic::cli::add_iotest(app);
  app.start_group("Machines");
  cosmic::cli::add_targets(app);
  cosmic::cli::add_explain(app);
  cosmic::cli::add_calibrate(app);
  cosmic::cli::add_measure_performance(app);
  cosmic::cli::add_monitor(app);
  app.start_group("Export, and look inside");
  cosmic::cli::add_export(app);
  cosmic::cli::add_compile(app);
  cosmic::cli::add_run(app);
  cosmic::cli::add_graph(app);
  cosmic::cli::add_test(app);
  app.start_group("The command line");
  cosmic::cli::add_config(app);
  cosmic::cli::add_completion(app);
  cosmic::cli::add_manual(app);
}

/// The command line as a command, to its end. Returns the exit status.
int run(int argc, char** argv) {
  cosmic::cli::Command app(
      "CosmicTagger: separates cosmic-ray from neutrino pixels in the wire-plane images of a "
      "liquid-argon detector.",
      "cosmictagger");
  app.set_version_flag("--version", version_text(), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help, or that of a command, and exit");
  app.require_subcommand();
  app.footer(
      "`cosmictagger help COMMAND` lists the options of a command, `cosmictagger COMMAND "
      "--help-all` its settings too.\n\n" +
      cosmic::cli::exit_status_text());
  add_commands(app);
  std::string hint = "Run `cosmictagger --help` for a list of commands.";
  try {
    std::vector<std::string> words =
        cosmic::cli::with_command(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    words = cosmic::cli::with_help_all(std::move(words));
    if (words.empty()) {
      std::cout << cosmic::cli::first_steps();
      return kUsageError;
    }
    if (!words.front().starts_with('-')) {
      hint = "Run `cosmictagger help " + words.front() + "` for its options.";
    }
    require_known_command(app, words, "help");
    cosmic::cli::refuse_hydra_words(words);
    cosmic::cli::refuse_unknown_options(app.entry(), words);
    app.parse(std::move(words));
    return kFinished;
  } catch (const cosmic::cli::ExitStatus& ended) {
    return ended.status();  // a command's own status; it has said what there is to say
  } catch (const cosmic::cli::UsageError& error) {
    return report(error.what() + ("\n" + hint), kUsageError);
  } catch (const cosmic::cli::DoesNotFit& error) {
    return report(error.what(), cosmic::cli::kDoesNotFit);
  } catch (const cosmic::HostMemoryError& error) {
    return report(error.what(), cosmic::cli::kDoesNotFit);
  } catch (const cosmic::Error& error) {
    return report(error.what(), cosmic::exit_status(error));
  } catch (const std::bad_alloc&) {
    return report_too_large();
  } catch (const std::length_error&) {
    return report_too_large();
  } catch (const std::filesystem::filesystem_error& error) {
    return report(error.path1().string() + ": " + error.code().message() +
                      " (the system refused to use this path); choose another one, or see what is "
                      "there and whether you may write to it",
                  cosmic::exit_status(cosmic::DataError("")));
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) {
      return kFinished;  // it could not print its results, which is found out about at the end
    }
    return report(std::string("the system refused what this command needs (") + error.what() +
                      "); is there a limit on threads, memory or open files (ulimit -a)?",
                  cosmic::exit_status(cosmic::TargetError("")));
  } catch (const std::exception& error) {
    return report(std::string(error.what()) + " (a bug in this program); please report it",
                  kInternalError);
  }
}

/// A command whose results did not get out has failed, whatever it says itself.
int with_results_out(int status) {
  const cosmic::cli::Printed printed = cosmic::cli::finish_printing();
  if (printed.all || status != kFinished) {
    return status;
  }
  const int failed = cosmic::exit_status(cosmic::DataError(""));
  if (printed.reader_left) {
    return failed;  // without a word, as programs do that end by SIGPIPE
  }
  return report("standard output could not be written (" + printed.reason +
                    "), so the results are not complete; free space there, or print elsewhere",
                failed);
}

}  // namespace

int main(int argc, char** argv) {
  cosmic::cli::prepare_standard_streams();
  cosmic::cli::clean_up_on_signals();
  return with_results_out(run(argc, argv));
}
