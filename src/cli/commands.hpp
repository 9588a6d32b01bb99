// The subcommands of the program. Each add_ function puts one into the parser with its flags; the
// parser runs the one that was asked for. Errors leave as exceptions, main turns them into an exit
// status.
#pragma once

namespace CLI {
class App;
}

namespace cosmic::cli {

void add_demo(CLI::App& app);
void add_graph(CLI::App& app);
void add_targets(CLI::App& app);

}  // namespace cosmic::cli
