// The subcommands of the program. Each add_ function puts one into the parser with its flags; the
// parser runs the one that was asked for. Errors leave as exceptions, main turns them into an exit
// status.
#pragma once

namespace cosmic::cli {

class Command;

void add_calibrate(Command& app);
void add_checkpoint(Command& app);
/// A command of `checkpoint`.
void add_checkpoint_publish(Command& checkpoint);
void add_compare(Command& app);
void add_compile(Command& app);
void add_completion(Command& app);
void add_config(Command& app);
void add_data(Command& app);
void add_evaluate(Command& app);
void add_explain(Command& app);
void add_export(Command& app);
void add_find_learning_rate(Command& app);
void add_generate(Command& app);
void add_graph(Command& app);
void add_infer(Command& app);
void add_iotest(Command& app);
void add_launch(Command& app);
void add_manual(Command& app);
void add_measure_performance(Command& app);
void add_monitor(Command& app);
void add_run(Command& app);
void add_serve(Command& app);
void add_tag(Command& app);
void add_targets(Command& app);
void add_test(Command& app);
void add_train(Command& app);
void add_view(Command& app);

}  // namespace cosmic::cli
