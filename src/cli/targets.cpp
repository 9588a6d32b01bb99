// `cosmictagger targets`: where this build can run a program.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

void list_targets() {
  const std::vector<std::string> names = target::target_names();
  for (const std::string& name : names) {
    fmt::print("{:<12} {}{}\n", name, to_string(target::make_target(name)->provenance()),
               name == names.front() ? "  (default)" : "");
  }
}

}  // namespace

void add_targets(CLI::App& app) {
  app.add_subcommand("targets",
                     "List the machines a program can be compiled for, and whether their timings "
                     "are measured or modelled")
      ->callback(list_targets);
}

}  // namespace cosmic::cli
