// The program: reads the command line, runs one subcommand, turns errors into exit statuses.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
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
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  cosmic::model::choose("command", argv[1], views);
}

std::string version_text() {
  return "cosmictagger " + std::string(cosmic::version) + " (revision " +
         std::string(cosmic::revision) + ", " + std::string(cosmic::build_type) + ", " +
         std::string(cosmic::compiler) + ")";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "CosmicTagger: separates cosmic-ray from neutrino pixels in the wire-plane images of a "
      "liquid-argon detector.",
      "cosmictagger");
  app.set_version_flag("--version", version_text(), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help, or that of a command, and exit");
  app.require_subcommand(1);
  app.footer("`cosmictagger COMMAND --help` lists the options of a command.");
  cosmic::cli::add_demo(app);
  cosmic::cli::add_graph(app);
  cosmic::cli::add_targets(app);
  try {
    require_known_command(app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // --help and --version
    }
    return report(std::string(error.what()) + "\nRun `cosmictagger --help` for what there is.",
                  kUsageError);
  } catch (const cosmic::Error& error) {
    return report(error.what(), cosmic::exit_status(error));
  } catch (const std::bad_alloc&) {
    return report(
        "there is not enough memory (the step does not fit this machine); use a smaller image, "
        "batch or network",
        cosmic::exit_status(cosmic::TargetError("")));
  } catch (const std::exception& error) {
    return report(std::string(error.what()) + " (a bug in this program); please report it",
                  kInternalError);
  }
}
