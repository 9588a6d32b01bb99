// `cosmictagger data`: looks at files of events.

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/data_commands.hpp"

namespace cosmic::cli {

void add_data(Command& app) {
  Command* command = app.add_subcommand("data", "List, check, draw and merge larcv3 event files");
  command->require_subcommand();
  add_data_list(*command);
  add_data_check(*command);
  add_data_merge(*command);
  add_data_show(*command);
}

}  // namespace cosmic::cli
