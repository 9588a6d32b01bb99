// `cosmictagger graph`: the program that a network becomes, for people who want to know what runs.
#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_bar.hpp"
#include "core/limits.hpp"
#include "core/provenance.hpp"
#include "model/enum_text.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"
#include "target/registry.hpp"

namespace cosmic::cli {

enum class Mode { train, infer };

}  // namespace cosmic::cli

template <>
struct cosmic::model::EnumText<cosmic::cli::Mode> {
  static constexpr std::string_view key = "mode";
  static constexpr std::array<std::string_view, 2> names{"train", "infer"};
};

namespace cosmic::cli {
namespace {

struct GraphOptions {
  bool json = false;
  std::string network;
  std::string mode = "infer";
  std::int64_t batch = 1;
  std::int64_t rows = 640;
  std::int64_t columns = 1024;
  std::string target;
  bool after_each_pass = false;
  bool steps = false;
  std::vector<std::string> disabled_passes;
};

/// What a network is compiled to.
struct Compiled {
  compile::Plan plan;
  session::CompileReport report;
};

Compiled compile(const GraphOptions& options, const session::Options& run) {
  const model::UResNet network(model::preset(options.network));
  const graph::Shape shape{options.batch, 3, options.rows, options.columns};
  const graph::TensorType image{graph::DType::f32, shape};
  const graph::TensorType label{graph::DType::u8, shape};
  if (model::parse_enum<Mode>(options.mode) == Mode::infer) {
    session::InferenceModel inference(network, run);
    const session::CompileReport& report = inference.compile(image);
    return {*inference.plans().front(), report};
  }
  const model::SegmentationLoss loss;
  session::TrainingModel training(network, loss, compile::Adam{}, run);
  const session::CompileReport& report = training.compile({image, label});
  return {*training.plans().front(), report};
}

/// Each step with the kernel that computes it, and why those before it in the list do not.
void print_kernels(const compile::Plan& plan, const std::string& target_name) {
  const auto target =
      target::make_target(target_name.empty() ? target::target_names().front() : target_name);
  for (std::size_t i = 0; i < plan.steps.steps.size(); ++i) {
    const compile::Step& step = plan.steps.steps[i];
    fmt::print("step {}: {}", i, compile::to_text(step, plan.graph));
    for (const target::KernelChoice& choice : target->kernel_choices(plan, step)) {
      if (choice.support.ok) {
        fmt::print("    kernel: {}\n", choice.name);
        break;
      }
      fmt::print("    not: {} ({})\n", choice.name, choice.support.why_not);
    }
  }
}

void print_report(const session::CompileReport& report) {
  constexpr double kMegabyte = 1e6;
  // Whatever the target, the passes run here and the host would run the plan.
  const auto of_host = [&](const char* text) { return marked(text, report.provenance); };
  fmt::print("\n{:<36} {:>9} {:>7}\n", "pass", "ms", of_host("nodes"));
  for (const compile::PassReport& pass : report.passes) {
    fmt::print("{:<36} {:>9.2f} {:>7}\n", pass.name, 1e3 * pass.seconds, pass.nodes);
  }
  const auto megabytes = [&](std::int64_t bytes) { return static_cast<double>(bytes) / kMegabyte; };
  fmt::print("\n{:<36} {:>9.2f} {}\n", "compiling, total", report.seconds, of_host("s"));
  fmt::print("{:<36} {:>9.3f} Gflop\n", "arithmetic of one run", report.flops / 1e9);
  const char* const where =
      report.provenance == Provenance::measured ? "" : " on the host of a modelled run";
  fmt::print("{:<36} {:>9.1f} MB{}\n", "arena", megabytes(report.arena_bytes), where);
  fmt::print("{:<36} {:>9.1f} MB{}  (a lower bound for any plan)\n", "peak of live bytes",
             megabytes(report.peak_live_bytes), where);
  fmt::print("{:<36} {:>9.1f} MB{}  (arena, scratch, prepared weights)\n", "memory for running",
             megabytes(report.memory_bytes), where);
}

nlohmann::ordered_json plan_json(const compile::Plan& plan, const session::CompileReport& report) {
  using Json = nlohmann::ordered_json;
  Json passes = Json::array();
  for (const compile::PassReport& pass : report.passes) {
    passes.push_back({{"name", pass.name}, {"seconds", pass.seconds}, {"nodes", pass.nodes}});
  }
  Json steps = Json::array();
  for (const compile::Step& step : plan.steps.steps) {
    steps.push_back(compile::to_text(step, plan.graph));
  }
  return {{"passes", std::move(passes)},         {"steps", std::move(steps)},
          {"compile_seconds", report.seconds},   {"flops", report.flops},
          {"arena_bytes", report.arena_bytes},   {"peak_live_bytes", report.peak_live_bytes},
          {"memory_bytes", report.memory_bytes}, {"provenance", to_string(report.provenance)}};
}

void print_graph(const GraphOptions& options) {
  std::string program;
  ProgressBar bar(0.3);
  session::Options run;
  run.target = options.target;
  run.disabled_passes = {options.disabled_passes.begin(), options.disabled_passes.end()};
  run.dump = [&](const std::string& pass, const graph::Graph& graph) {
    program = graph::to_text(graph);
    if (options.after_each_pass && !options.json) {
      bar.finish();
      fmt::print("# after {}\n{}\n", pass, program);
    }
  };
  run.progress = [&](double done, const std::string& what) { bar.update(done, what); };
  const Compiled compiled = compile(options, run);
  bar.finish();
  const compile::Plan& plan = compiled.plan;
  if (options.json) {
    fmt::print("{}\n", plan_json(plan, compiled.report).dump(2));
    return;
  }
  if (options.steps) {
    print_kernels(plan, options.target);
  } else {
    if (!options.after_each_pass) {
      fmt::print("{}", program);
    }
    fmt::print("\n{}", compile::to_text(plan.steps, plan.graph));
  }
  print_report(compiled.report);
}

}  // namespace

void add_graph(Command& app) {
  auto options = std::make_shared<GraphOptions>();  // the callback holds it too
  Command* command = app.add_subcommand(
      "graph",
      "Print the compiled program of a network, its steps, the memory it needs and the time of "
      "each pass");
  std::string names;
  for (const std::string& name : model::preset_names()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  command->add_option("NET", options->network, "The network: " + names)->required();
  command
      ->add_option("--mode", options->mode,
                   "train: forward, loss, backward, update; infer: forward only")
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Events per run")
      ->between(1, kMostBatchEvents)
      ->capture_default_str();
  command->add_option("--rows", options->rows, "Rows of an image")->capture_default_str();
  command->add_option("--columns", options->columns, "Columns of an image")->capture_default_str();
  command->add_option("--target", options->target,
                      "Target to compile for (default: the first of `cosmictagger targets`)");
  command->add_flag("--after-each-pass", options->after_each_pass,
                    "Print the program after every pass, not only after the last");
  command->add_flag("--steps", options->steps,
                    "Print only the steps of the plan, each with its kernel and why others before "
                    "it were not chosen");
  command->add_option("--disable-pass", options->disabled_passes, "Skip an optional pass");
  command->add_flag("--json", options->json,
                    "Print passes, steps and memory as one JSON object instead");
  command->callback([options] { print_graph(*options); });
}

}  // namespace cosmic::cli
