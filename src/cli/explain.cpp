// `cosmictagger explain`: what a run would need and how fast it would be on a machine that is not
// here. Everything it prints is modelled.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/write_prediction_page.hpp"
#include "compile/pipeline.hpp"
#include "config/dump.hpp"
#include "config/help.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/detector/geometry.hpp"
#include "machine/explanation.hpp"
#include "machine/family.hpp"
#include "machine/scaling.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/registry.hpp"
#include "train/run_choices.hpp"

namespace cosmic::cli {
namespace {

struct ExplainOptions {
  bool all = false;
  bool make_it_fit = false;
  bool scaling = false;
  std::string profile;  ///< page to write; none if empty
  int replicas = 1;
  int pipeline = 1;
};

/// The usual machine of a compute mode, unless run.machine names another.
std::string machine_of(const config::RunConfig& run) {
  using config::ComputeMode;
  if (!run.machine.empty()) {
    return run.machine;
  }
  switch (run.compute_mode) {
    case ComputeMode::cpu:
      return "zen4-2core";
    case ComputeMode::gpu:
      return "h200";
    case ComputeMode::hpu:
      return "gaudi1";
    case ComputeMode::ipu:
      return "gc200";
    case ComputeMode::rdu:
      return "sn30";
    case ComputeMode::dpcpp:
    case ComputeMode::xpu:
      break;
  }
  throw UserError("run.compute_mode=" + model::to_string(run.compute_mode) +
                  " has no machine that is described here; give run.machine=FILE.yaml with a "
                  "description, or another mode");
}

/// Cheap arithmetic on pixels is taken to be fused with what reads it, as the vendors' compilers
/// do.
compile::TargetInfo fusing_target() {
  compile::TargetInfo info;
  info.name = "modelled";
  info.can_recompute = [](const graph::Graph& graph, graph::ValueId id) {
    return graph::locality_of(graph.node(id).op) == graph::Locality::pixel;
  };
  return info;
}

graph::Graph program_of(const config::Configuration& configuration) {
  const bool trains = configuration.mode.name == config::Mode::train;
  const model::UResNet network(configuration.network);
  const graph::Shape shape{configuration.run.minibatch_size, 3,
                           data::detector::kRows >> configuration.data.downsample,
                           data::detector::kColumns >> configuration.data.downsample};
  graph::Builder g;
  const graph::ValueId image = g.input("image", {graph::DType::f32, shape});
  const graph::ValueId logits =
      network.logits(g, image, trains ? model::Phase::training : model::Phase::evaluation);
  const compile::TargetInfo target = fusing_target();
  const compile::Precision precision = train::precision_of(configuration.run);
  std::vector<compile::PassReport> report;
  if (!trains) {
    g.output("logits", logits);
    return compile::run_pipeline(g.take(), compile::inference_passes(target, precision), {},
                                 report);
  }
  const graph::ValueId labels = g.input("label", {graph::DType::u8, shape});
  const model::SegmentationLoss loss(configuration.mode.optimizer.loss_balance_scheme);
  g.output(compile::kLossOutput, loss.loss(g, logits, labels));
  return compile::run_pipeline(
      g.take(),
      compile::training_passes(target, {train::optimizer_of(configuration.mode.optimizer)}, {},
                               precision),
      {}, report);
}

/// Batches of one update. A pipeline needs one for each of its stages, forward and backward.
std::int64_t accumulation_of(const config::Configuration& configuration,
                             const ExplainOptions& options) {
  if (configuration.mode.name != config::Mode::train) {
    return 1;
  }
  return std::max<std::int64_t>(configuration.mode.optimizer.gradient_accumulation,
                                2 * options.pipeline - 1);
}

machine::ExecutionOptions execution_of(const config::Configuration& configuration,
                                       const ExplainOptions& options) {
  return {.replicas = options.replicas,
          .accumulation = static_cast<int>(accumulation_of(configuration, options)),
          .pipeline = options.pipeline,
          .host_data =
              configuration.data.synthetic ? machine::HostData::synthetic : machine::HostData::real,
          .launching = configuration.run.lazy_mode ? machine::Launching::whole_program
                                                   : machine::Launching::per_op,
          .recompute = options.pipeline > 1 ? machine::Recompute::yes : machine::Recompute::no};
}

double events_of(const config::Configuration& configuration, const ExplainOptions& options) {
  return static_cast<double>(configuration.run.minibatch_size * options.replicas);
}

std::string what_runs(const config::Configuration& configuration, const ExplainOptions& options) {
  const std::int64_t batch = configuration.run.minibatch_size;
  const std::int64_t accumulation = accumulation_of(configuration, options);
  std::string text =
      fmt::format("{}, {}, {} event{} a step, {}", configuration.network.name,
                  model::to_string(configuration.mode.name), batch, batch == 1 ? "" : "s",
                  model::to_string(configuration.run.precision));
  if (accumulation > 1) {
    text += fmt::format(", {} steps an update", accumulation);
  }
  if (options.pipeline > 1) {
    text += fmt::format(", pipeline of {}", options.pipeline);
  }
  if (options.replicas > 1) {
    text += fmt::format(", {} replicas", options.replicas);
  }
  return text;
}

machine::ComparedRun compared(const std::string& label, const machine::Description& machine,
                              const config::Configuration& configuration,
                              const ExplainOptions& options) {
  return {
      label,
      machine::predict(machine, program_of(configuration), execution_of(configuration, options)),
      events_of(configuration, options)};
}

void print_all_machines(const config::Configuration& configuration, const ExplainOptions& options) {
  std::vector<machine::ComparedRun> runs;
  for (const std::string& name : machine::built_in_machines()) {
    runs.push_back(compared(name, target::find_machine(name), configuration, options));
  }
  fmt::print("{}\n{}", what_runs(configuration, options), machine::comparison("machine", runs));
}

/// Smaller batches, fewer bits and more machines, alone and together, until something fits.
void print_ways_to_fit(config::Configuration configuration, ExplainOptions options,
                       const machine::Description& machine) {
  std::vector<machine::ComparedRun> runs;
  const std::int64_t asked = configuration.run.minibatch_size;
  const bool pipelines = machine.family->pipelines();
  const std::vector<config::Precision> formats =
      configuration.run.precision == config::Precision::float32
          ? std::vector{config::Precision::float32, config::Precision::bfloat16}
          : std::vector{configuration.run.precision};
  for (const config::Precision format : formats) {
    configuration.run.precision = format;
    for (std::int64_t batch = asked; batch >= 1; batch /= 2) {
      configuration.run.minibatch_size = batch;
      for (options.pipeline = 1; options.pipeline <= (pipelines ? 16 : 1); options.pipeline *= 2) {
        runs.push_back(
            compared(what_runs(configuration, options), machine, configuration, options));
        if (runs.back().prediction.memory.fits == machine::Fit::yes) {
          break;  // more machines would fit as well
        }
      }
    }
  }
  fmt::print("{} ({})\n{}", machine.name, machine.about, machine::comparison("run", runs));
}

/// Scaling starts from one replica.
ExplainOptions alone(ExplainOptions options) {
  options.replicas = 1;
  return options;
}

std::vector<machine::ScalingRow> rows_of(const machine::Description& machine,
                                         const config::Configuration& configuration,
                                         const ExplainOptions& options) {
  const machine::ComparedRun one = compared("", machine, configuration, alone(options));
  return machine::scaling(machine, one.prediction, one.events);
}

void explain(const std::vector<std::string>& words, const ExplainOptions& options) {
  const config::Resolved resolved = config::parse(words, {.missing = config::MissingKeys::leave});
  for (const std::string& note : resolved.notes) {
    fmt::print(stderr, "note: {}\n", note);
  }
  const config::Configuration& configuration = resolved.configuration;
  if (options.all) {
    print_all_machines(configuration, options);
    return;
  }
  const machine::Description machine = target::find_machine(machine_of(configuration.run));
  if (options.make_it_fit) {
    print_ways_to_fit(configuration, options, machine);
    return;
  }
  const machine::ComparedRun run = compared("", machine, configuration, options);
  fmt::print("{}", machine::explanation(machine, run.prediction,
                                        {what_runs(configuration, options), run.events}));
  if (run.prediction.memory.fits != machine::Fit::yes) {
    fmt::print("\nRun again with --make-it-fit for what would make it fit, and its price.\n");
  }
  if (options.scaling) {
    fmt::print("\n{}", machine::scaling_text(machine, rows_of(machine, configuration, options),
                                             what_runs(configuration, alone(options))));
  }
  if (!options.profile.empty()) {
    write_prediction_page(options.profile, {.machine = machine,
                                            .prediction = run.prediction,
                                            .what_runs = what_runs(configuration, options),
                                            .events = run.events,
                                            .scaling = rows_of(machine, configuration, options),
                                            .configuration = config::to_yaml(configuration)});
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();  // the callback holds it too
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say whether a run would fit a machine, how fast it would be and what bounds it (modelled)");
  command->add_flag("--all", options->all, "Compare all machines that are described");
  command->add_flag("--make-it-fit", options->make_it_fit,
                    "Try smaller batches, fewer bits and pipelines, with the price of each");
  command->add_flag("--scaling", options->scaling,
                    "Add a table of 1 to 1024 machines that train together");
  command->add_option("--profile", options->profile,
                      "Write a page with everything to this file (.html), and a JSON beside it");
  command->add_option("--replicas", options->replicas, "Machines that train together")
      ->capture_default_str();
  command->add_option("--pipeline", options->pipeline, "Machines that share one program")
      ->capture_default_str();
  command->allow_extras();  // settings and recipes are read by config::parse
  command->footer([] { return config::help(); });
  command->callback([command, options] { explain(command->remaining(), *options); });
}

}  // namespace cosmic::cli
