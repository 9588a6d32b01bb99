// The program: reads the command line, runs one subcommand, turns errors into exit statuses.
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/clean_up_on_signal.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/reference_spelling.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "model/enum_text.hpp"

namespace {

constexpr int kUsageError = 2;
constexpr int kInternalError = 70;

int report(std::string_view message, int status) {
  std::cout.flush();
  std::cerr << "cosmictagger: error: " << message << '\n';
  return status;
}

/// The parser would only say that the word was not expected; this names the nearest command.
void require_known_command(const cosmic::cli::Command& program,
                           std::span<const std::string> words) {
  if (words.empty() || words.front().starts_with('-')) {
    return;
  }
  const std::vector<std::string> names = program.subcommand_names();
  if (names.empty()) {
    return;
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  cosmic::model::choose("command", words.front(), views);
  require_known_command(program.subcommand(words.front()), words.subspan(1));
}

std::string version_text() {
  return "cosmictagger " + std::string(cosmic::version) + " (revision " +
         std::string(cosmic::revision) + ", " + std::string(cosmic::build_type) + ", " +
         std::string(cosmic::compiler) + ")";
}

}  // namespace

int main(int argc, char** argv) {
  cosmic::cli::clean_up_on_signals();
  cosmic::cli::Command app(
      "CosmicTagger: separates cosmic-ray from neutrino pixels in the wire-plane images of a "
      "liquid-argon detector.",
      "cosmictagger");
  app.set_version_flag("--version", version_text(), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help, or that of a command, and exit");
  app.require_subcommand();
  app.footer("`cosmictagger COMMAND --help` lists the options of a command.");
  cosmic::cli::add_checkpoint(app);
  cosmic::cli::add_compile(app);
  cosmic::cli::add_config(app);
  cosmic::cli::add_data(app);
  cosmic::cli::add_evaluate(app);
  cosmic::cli::add_explain(app);
  cosmic::cli::add_export(app);
  cosmic::cli::add_generate(app);
  cosmic::cli::add_graph(app);
  cosmic::cli::add_infer(app);
  cosmic::cli::add_iotest(app);
  cosmic::cli::add_measure_performance(app);
  cosmic::cli::add_monitor(app);
  cosmic::cli::add_run(app);
  cosmic::cli::add_targets(app);
  cosmic::cli::add_test(app);
  cosmic::cli::add_train(app);
  try {
    std::vector<std::string> words =
        cosmic::cli::with_command(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
    require_known_command(app, words);
    app.parse(std::move(words));
    return 0;
  } catch (const cosmic::cli::ExitStatus& ended) {
    return ended.status();  // a command's own status; it has said what there is to say
  } catch (const cosmic::cli::UsageError& error) {
    return report(std::string(error.what()) + "\nRun `cosmictagger --help` for a list of commands.",
                  kUsageError);
  } catch (const cosmic::Error& error) {
    return report(error.what(), cosmic::exit_status(error));
  } catch (const std::bad_alloc&) {
    return report(
        "out of memory (the step does not fit this machine); use a smaller image, batch or network",
        cosmic::exit_status(cosmic::TargetError("")));
  } catch (const std::exception& error) {
    return report(std::string(error.what()) + " (a bug in this program); please report it",
                  kInternalError);
  }
}
