// The subcommands of the program. Each add_ function puts one into the parser with its flags; the
// parser runs the one that was asked for. Errors leave as exceptions, main turns them into an exit
// status.
#pragma once

namespace CLI {
class App;
}

namespace cosmic::cli {

void add_checkpoint(CLI::App& app);
void add_compile(CLI::App& app);
void add_config(CLI::App& app);
void add_data(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_explain(CLI::App& app);
void add_export(CLI::App& app);
void add_generate(CLI::App& app);
void add_graph(CLI::App& app);
void add_infer(CLI::App& app);
void add_iotest(CLI::App& app);
void add_measure_performance(CLI::App& app);
void add_monitor(CLI::App& app);
void add_run(CLI::App& app);
void add_targets(CLI::App& app);
void add_test(CLI::App& app);
void add_train(CLI::App& app);

}  // namespace cosmic::cli
