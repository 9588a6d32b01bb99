#include "cli/explained_run.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "data/detector/geometry.hpp"
#include "data/event.hpp"
#include "machine/section_plan.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "train/run_choices.hpp"

namespace cosmic::cli {
namespace {

using config::Configuration;

bool trains(const Configuration& configuration) {
  return configuration.mode.name == config::Mode::train;
}

graph::Graph program_of(const RunChoice& choice) {
  const Configuration& configuration = choice.configuration;
  const model::UResNet network(configuration.network);
  const graph::Shape image{configuration.run.minibatch_size, data::kPlanes,
                           data::detector::kRows >> configuration.data.downsample,
                           data::detector::kColumns >> configuration.data.downsample};
  const planning::ProgramOptions options{
      .precision = train::precision_of(configuration.run),
      .optimizer = train::optimizer_of(configuration.mode.optimizer),
      .recomputation = choice.recomputation,
      .stages = choice.pipeline};
  if (!trains(configuration)) {
    return planning::inference_program(network, image, options);
  }
  const model::SegmentationLoss loss(configuration.mode.optimizer.loss_balance_scheme);
  return planning::training_program(network, loss, image, options);
}

/// Batches of one update. A pipeline needs one for each of its stages, forward and backward, and
/// a few times as many to be full most of the time.
std::int64_t accumulation_of(const RunChoice& choice) {
  constexpr std::int64_t kFull = 4;
  const Configuration& configuration = choice.configuration;
  if (!trains(configuration)) {
    return 1;
  }
  const std::int64_t stages = 2 * choice.pipeline - 1;
  return std::max(configuration.mode.optimizer.gradient_accumulation,
                  stages > 1 ? kFull * stages : 1);
}

machine::ExecutionOptions execution_of(const RunChoice& choice) {
  const Configuration& configuration = choice.configuration;
  machine::ExecutionOptions options;
  options.replicas = choice.replicas;
  options.accumulation = static_cast<int>(accumulation_of(choice));
  options.pipeline = choice.pipeline;
  options.host_data =
      configuration.data.synthetic ? machine::HostData::synthetic : machine::HostData::real;
  options.launching =
      configuration.run.lazy_mode ? machine::Launching::whole_program : machine::Launching::per_op;
  options.optimizer_state = choice.optimizer_state;
  if (!configuration.run.section_plan.empty()) {
    options.sections = machine::read_section_plan(configuration.run.section_plan);
  }
  return options;
}

}  // namespace

std::string words_of(const RunChoice& choice) {
  const config::RunConfig& run = choice.configuration.run;
  std::string text =
      fmt::format("{}, {}, {} event{} a step, {}", choice.configuration.network.name,
                  model::to_string(choice.configuration.mode.name), run.minibatch_size,
                  run.minibatch_size == 1 ? "" : "s", model::to_string(run.precision));
  if (run.partials == config::Partials::float16) {
    text += ", half partials";
  }
  if (choice.recomputation == planning::Recomputation::yes) {
    text += ", recomputation";
  }
  if (choice.optimizer_state == machine::OptimizerState::streamed) {
    text += ", optimizer state beside the chip";
  }
  if (const std::int64_t accumulation = accumulation_of(choice); accumulation > 1) {
    text += fmt::format(", {} steps an update", accumulation);
  }
  if (choice.pipeline > 1) {
    text += fmt::format(", pipeline of {}", choice.pipeline);
  }
  if (choice.replicas > 1) {
    text += fmt::format(", {} replicas", choice.replicas);
  }
  return text;
}

std::string settings_of(const RunChoice& choice) {
  const config::RunConfig& run = choice.configuration.run;
  std::string text = fmt::format("run.minibatch_size={} run.precision={}", run.minibatch_size,
                                 model::to_string(run.precision));
  text += run.partials == config::Partials::float16 ? " run.partials=float16" : "";
  text += choice.recomputation == planning::Recomputation::yes ? " run.recompute=true" : "";
  text += choice.optimizer_state == machine::OptimizerState::streamed ? " --stream-optimizer" : "";
  if (choice.pipeline > 1) {
    text += fmt::format(" run.stages={}", choice.pipeline);
    text += trains(choice.configuration)
                ? fmt::format(" mode.optimizer.gradient_accumulation={}", accumulation_of(choice))
                : "";
  }
  return text;
}

machine::ComparedRun predicted_run(const std::string& label, const machine::Description& machine,
                                   const RunChoice& choice) {
  return {label, machine::predict(machine, program_of(choice), execution_of(choice)),
          static_cast<double>(choice.configuration.run.minibatch_size * choice.replicas),
          choice.replicas * choice.pipeline};
}

}  // namespace cosmic::cli
