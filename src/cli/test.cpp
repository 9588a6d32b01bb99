// `cosmictagger test`: whether a target computes what the reference target computes, as a table.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/published_job.hpp"
#include "cli/run_command.hpp"
#include "cli/settings_help.hpp"
#include "cli/standard_streams.hpp"
#include "cli/test_report.hpp"
#include "cli/what_fits.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "run/target_test.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {
namespace {

using target::check::ResultCheck;
using target::check::ValueCheck;
using target::check::Verdict;

constexpr int kWrong = 1;

struct TestFlags {
  data::DenseShape shape;
  bool whole_events = false;
  bool all = false;
  bool json = false;
};

const char* text_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::sound:
      return "ok";
    case Verdict::proves_nothing:
      return "proves nothing";
    case Verdict::wrong:
      return "WRONG";
  }
  return "";
}

std::string value_name(const ValueCheck& check) {
  return check.op + (check.as_it_is ? " (not observed)" : "");
}

void print_row(const std::string& layer, std::size_t values, const ValueCheck& check) {
  // In parts of the value, so that rows compare; a value of zeros has no parts.
  const double scale = check.scale > 0 ? check.scale : 1;
  fmt::print("{:<56} {:>6}  {:<28} {:>5} {:>9.1e} {:>9.1e} {:>6.2f}  {}\n", layer, values,
             value_name(check), to_string(check.format), check.error / scale, check.bound / scale,
             check.spread, text_of(check.verdict));
}

void print_table(const run::TargetTest& test, TestRows rows) {
  const bool all = rows == TestRows::by_value;
  fmt::print("{:<56} {:>6}  {:<28} {:>5} {:>9} {:>9} {:>6}  {}\n", "layer", "values",
             all ? "value" : "closest to its bound", "kept", "error", "bound", "spread", "verdict");
  if (!all) {
    for (const run::LayerSummary& layer : test.layers()) {
      print_row(layer.layer, layer.values, layer.worst);
    }
    return;
  }
  for (const run::TestedProgram& program : test.programs) {
    for (const ValueCheck& check : program.check.values) {
      print_row(check.layer, 1, check);
    }
  }
}

/// Each wrong value by itself: a layer's row shows its worst only.
void print_wrong_values(const run::TargetTest& test) {
  for (const run::TestedProgram& program : test.programs) {
    for (const ValueCheck& check : program.check.values) {
      if (check.verdict == Verdict::wrong) {
        print_row(check.layer, 1, check);
      }
    }
  }
}

void print_results(const run::TestedProgram& program) {
  for (const ResultCheck& result : program.check.results) {
    const double scale = result.scale > 0 ? result.scale : 1;
    fmt::print(
        "  {:<14} {} differs by {:.1e} at the end of the whole {}; rounding images and weights "
        "once "
        "changes it by {:.1e}\n",
        "end to end", result.name, result.difference / scale, program.name,
        result.rounding / scale);
  }
}

void print_summary(const run::TargetTest& test, const std::string& title) {
  fmt::print("\n{}\n", title);
  fmt::print(
      "  {:<14} {} of {} values: within the bound that follows from their formats and sums\n",
      text_of(Verdict::sound), test.count(Verdict::sound), test.values());
  fmt::print("  {:<14} {}{}\n", text_of(Verdict::proves_nothing),
             test.count(Verdict::proves_nothing),
             test.count(Verdict::proves_nothing) == 0
                 ? ""
                 : ": sums whose terms cancel, so that rounding is as large as the result");
  const ValueCheck& worst = test.worst();
  fmt::print(
      "  {:<14} {}; closest to its bound, or farthest beyond it: {} of {}, {:.2f} of the bound\n",
      text_of(Verdict::wrong), test.count(Verdict::wrong), value_name(worst), worst.layer,
      worst.share());
  const bool same_bits =
      std::all_of(test.programs.begin(), test.programs.end(),
                  [](const run::TestedProgram& program) { return program.check.same_bits; });
  fmt::print("  {:<14} {}\n", "as it is",
             same_bits ? "the program gives the same bits when nobody looks at its values"
                       : "the program gives other bits when nobody looks at its values; both were "
                         "held to the bound");
  for (const run::TestedProgram& program : test.programs) {
    print_results(program);
  }
}

/// Differences are in parts of the value, as in the table.
void print_test_json(const run::TargetTest& test, const std::string& title) {
  using Json = nlohmann::ordered_json;
  Json values = Json::array();
  Json results = Json::array();
  for (const run::TestedProgram& program : test.programs) {
    for (const ValueCheck& check : program.check.values) {
      const double scale = check.scale > 0 ? check.scale : 1;
      values.push_back({{"program", program.name},
                        {"layer", check.layer},
                        {"value", check.op},
                        {"observed", !check.as_it_is},
                        {"kept", to_string(check.format)},
                        {"error", check.error / scale},
                        {"bound", check.bound / scale},
                        {"spread", check.spread},
                        {"verdict", text_of(check.verdict)}});
    }
    for (const ResultCheck& result : program.check.results) {
      const double scale = result.scale > 0 ? result.scale : 1;
      results.push_back({{"program", program.name},
                         {"result", result.name},
                         {"difference", result.difference / scale},
                         {"rounding", result.rounding / scale}});
    }
  }
  const Json report{{"title", title},
                    {"passed", test.passed()},
                    {"ok", test.count(Verdict::sound)},
                    {"proves_nothing", test.count(Verdict::proves_nothing)},
                    {"wrong", test.count(Verdict::wrong)},
                    {"values", std::move(values)},
                    {"end_to_end", std::move(results)}};
  fmt::print("{}\n", report.dump(2));
}

std::string formats_of(const compile::Precision& precision) {
  std::string text = to_string(precision.format);
  if (precision.format != NumberFormat::f32) {
    text += precision.weights == compile::Precision::Weights::pure ? ", pure" : ", master weights";
  }
  if (precision.partials != NumberFormat::f32) {
    text += ", sums in " + to_string(precision.partials);
  }
  if (precision.loss_scaling.is_on()) {
    text += ", loss scaling";
  }
  if (precision.tf32) {
    text += ", tf32 products";
  }
  return text;
}

void test_and_print(const TestFlags& flags, const config::Configuration& configuration) {
  const std::unique_ptr<target::Target> target =
      target::make_target(target_for(configuration.run.compute_mode), configuration.run.machine,
                          run::device_of(configuration.run));
  const bool small = flags.shape == data::DenseShape{} && !flags.whole_events;
  const data::DenseShape shape =
      small ? run::smallest_image(configuration) : image_shape(configuration, flags.shape);
  PublishedJob job("test", configuration, std::string(target->name()));
  job.compiling();
  const run::TargetTest test =
      run::test_target(configuration, *target, shape, [&](std::size_t done, std::size_t all) {
        job.publish({.state = monitor::JobState::running,
                     .unit = monitor::JobUnit::values,
                     .done = static_cast<std::int64_t>(done),
                     .total = static_cast<std::int64_t>(all)});
      });
  for (const std::string& warning : test.warnings) {
    tell("warning: {}\n", warning);
  }
  for (const std::string& note : test.notes) {
    tell("note: {}\n", note);
  }
  report_test(
      test,
      fmt::format("Target {} against {}, value by value: {} in {}, {} events of {} x {} "
                  "({})",
                  target->name(), target::oracle_name(),
                  model::UResNet(configuration.network).name(),
                  formats_of(target->coerced(run::precision_of(configuration.run))),
                  configuration.run.minibatch_size, shape.rows, shape.columns, test.events_from),
      flags.json  ? TestRows::json
      : flags.all ? TestRows::by_value
                  : TestRows::by_layer);
}

}  // namespace

void report_test(const run::TargetTest& test, const std::string& title, TestRows rows) {
  if (rows == TestRows::json) {
    print_test_json(test, title);
  } else {
    print_table(test, rows);
    if (!test.passed() && rows == TestRows::by_layer) {
      fmt::print("\nwrong values\n");
      print_wrong_values(test);
    }
    print_summary(test, title);
  }
  if (!test.passed()) {
    throw ExitStatus(kWrong);  // the status alone: what there is to say was said
  }
}

void add_test(Command& app) {
  auto flags = std::make_shared<TestFlags>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "test",
      "Compare a training step on a target with the reference target, value by value; status 1 if "
      "one is wrong");
  command->add_option("--rows", flags->shape.rows,
                      "Rows of the images; by default the fewest that the network can take");
  command->add_option("--columns", flags->shape.columns, "Columns of the images");
  command->add_flag("--whole-events", flags->whole_events,
                    "Images as large as those of data.file; the reference target is slow");
  command->add_flag("--all", flags->all, "A row for each value instead of one for each layer");
  command->add_flag("--json", flags->json, "Print every value in one JSON object");
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return settings_help(); });
  command->callback([flags, command] {
    const config::Configuration configuration = configuration_from(
        command->remaining(), config::ParseOptions{.mode = config::Mode::train,
                                                   .command = config::Command::test,
                                                   .missing = config::MissingKeys::leave});
    run_or_say_what_fits(configuration, TrainingPrograms::step,
                         [&] { test_and_print(*flags, configuration); });
  });
}

}  // namespace cosmic::cli
