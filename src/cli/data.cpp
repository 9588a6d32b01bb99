// `cosmictagger data`: looks at files of events.
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/data_commands.hpp"

namespace cosmic::cli {

void add_data(CLI::App& app) {
  CLI::App* command = app.add_subcommand("data", "List, check and draw larcv3 event files");
  command->require_subcommand(1);
  add_data_list(*command);
  add_data_check(*command);
  add_data_show(*command);
}

}  // namespace cosmic::cli
