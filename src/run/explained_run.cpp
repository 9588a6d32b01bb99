#include "run/explained_run.hpp"

#include <fmt/core.h>

#include <string_view>
#include <vector>

#include "data/detector/geometry.hpp"
#include "data/event.hpp"
#include "machine/family.hpp"
#include "machine/section_plan.hpp"
#include "model/fashion_mnist.hpp"
#include "model/published_networks.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"

namespace cosmic::run {
namespace {

using config::Configuration;

bool trains(const Configuration& configuration) {
  return configuration.mode.name == config::Mode::train;
}

graph::Graph program_of(const RunChoice& choice, const machine::Description& machine) {
  const machine::Stack& stack = machine.stack();
  const Configuration& configuration = choice.configuration;
  const session::ProgramOptions options{.precision = precision_of(configuration.run),
                                        .stored = stack.stored,
                                        .weights = stack.weights,
                                        .format_passes = machine.family->format_passes(),
                                        .optimizer = optimizer_of(configuration.mode.optimizer),
                                        .recomputation = choice.recomputation,
                                        .stages = choice.pipeline};
  if (!choice.published.empty()) {
    const model::PublishedNetwork published = model::find_published_network(choice.published);
    graph::Shape image = published.image;
    image.insert(image.begin(), configuration.run.minibatch_size);
    return trains(configuration)
               ? session::training_program(*published.network, model::NegativeLogLikelihoodLoss{},
                                           image, options)
               : session::inference_program(*published.network, image, options);
  }
  const model::UResNet network(configuration.network);
  const data::DenseShape plane = choice.image.value_or(
      data::DenseShape{data::detector::kRows >> configuration.data.downsample,
                       data::detector::kColumns >> configuration.data.downsample});
  const graph::Shape image{configuration.run.minibatch_size, data::kPlanes, plane.rows,
                           plane.columns};
  if (!trains(configuration)) {
    return session::inference_program(network, image, options);
  }
  const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
  return session::training_program(network, loss, image, options);
}

/// Batches of one update. A pipeline needs one for each of its stages, forward and backward, and
/// a few times as many to be full most of the time: that is chosen where the settings say less than
/// it needs.
std::int64_t accumulation_of(const RunChoice& choice) {
  constexpr std::int64_t kFull = 4;
  const Configuration& configuration = choice.configuration;
  if (!trains(configuration)) {
    return 1;
  }
  const std::int64_t stages = 2 * choice.pipeline - 1;
  const std::int64_t given = configuration.mode.optimizer.gradient_accumulation;
  return given >= stages ? given : kFull * stages;
}

machine::ExecutionOptions execution_of(const RunChoice& choice, const machine::Stack& stack) {
  const Configuration& configuration = choice.configuration;
  machine::ExecutionOptions options;
  options.replicas = choice.replicas;
  options.exchange = exchange_format(configuration.run);
  options.accumulation = static_cast<int>(accumulation_of(choice));
  options.pipeline = choice.pipeline;
  options.host_data =
      configuration.data.synthetic ? machine::HostData::synthetic : machine::HostData::real;
  options.launching = configuration.run.lazy_mode ? stack.launching : machine::Launching::per_op;
  options.share = choice.share;
  options.iterations_per_call = choice.iterations_per_call;
  options.temporary_share = choice.temporary_share;
  options.optimizer_state = choice.optimizer_state;
  if (!configuration.run.section_plan.empty()) {
    options.sections = machine::read_section_plan(configuration.run.section_plan);
  }
  return options;
}

struct Setting {
  std::string_view key;
  std::string value;
};

/// Those that change how much memory a run needs, always in this order.
std::vector<Setting> memory_settings(const Configuration& configuration) {
  const config::RunConfig& run = configuration.run;
  return {{"run.minibatch_size", std::to_string(run.minibatch_size)},
          {"run.precision", model::to_string(run.precision)},
          {"run.partials", model::to_string(run.partials)},
          {"run.recompute", run.recompute ? "true" : "false"},
          {"run.stages", std::to_string(run.stages)},
          {"mode.optimizer.gradient_accumulation",
           std::to_string(configuration.mode.optimizer.gradient_accumulation)}};
}

/// Those of `to` that differ from `from`, and the first `always`.
std::string difference(const Configuration& from, const Configuration& to, std::size_t always) {
  const std::vector<Setting> old_settings = memory_settings(from);
  const std::vector<Setting> new_settings = memory_settings(to);
  std::string text;
  for (std::size_t i = 0; i < new_settings.size(); ++i) {
    if (i < always || new_settings[i].value != old_settings[i].value) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", new_settings[i].key,
                          new_settings[i].value);
    }
  }
  return text;
}

}  // namespace

Configuration applied(const RunChoice& choice) {
  Configuration configuration = choice.configuration;
  configuration.run.recompute = choice.recomputation == session::Recomputation::yes;
  configuration.run.stages = choice.pipeline;
  if (trains(configuration)) {
    configuration.mode.optimizer.gradient_accumulation = accumulation_of(choice);
  }
  return configuration;
}

RunChoice choice_of(const Configuration& configuration) {
  return {.configuration = configuration,
          .pipeline = static_cast<int>(configuration.run.stages),
          .recomputation = configuration.run.recompute ? session::Recomputation::yes
                                                       : session::Recomputation::no};
}

std::optional<Configuration> configuration_of(const RunChoice& choice) {
  const bool spread = choice.pipeline > 1 && !trains(choice.configuration);
  if (spread || choice.replicas > 1 || choice.optimizer_state != machine::OptimizerState::on_chip) {
    return std::nullopt;
  }
  return applied(choice);
}

std::string words_of(const RunChoice& choice) {
  const config::RunConfig& run = choice.configuration.run;
  std::string text =
      fmt::format("{}, {}, {} event{} per step, {}",
                  choice.published.empty() ? choice.configuration.network.name : choice.published,
                  model::to_string(choice.configuration.mode.name), run.minibatch_size,
                  run.minibatch_size == 1 ? "" : "s", model::to_string(run.precision));
  if (run.partials == config::Partials::float16) {
    text += ", half partials";
  }
  if (run.tf32) {
    text += ", tf32 products";
  }
  if (choice.recomputation == session::Recomputation::yes) {
    text += ", recomputation";
  }
  if (choice.optimizer_state == machine::OptimizerState::streamed) {
    text += ", optimizer state beside the chip";
  }
  if (const std::int64_t accumulation = accumulation_of(choice); accumulation > 1) {
    text += fmt::format(", {} steps per update", accumulation);
  }
  if (!choice.stack.empty()) {
    text += ", stack " + choice.stack;
  }
  if (choice.share < 1) {
    text += fmt::format(", {:.3g} of the machine", choice.share);
  }
  if (choice.iterations_per_call > 1) {
    text += fmt::format(", {} steps per call", choice.iterations_per_call);
  }
  if (choice.temporary_share) {
    text += fmt::format(", {:.3g} of a tile for temporaries", *choice.temporary_share);
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
  constexpr std::size_t kBatchAndPrecision = 2;
  std::string text = difference({}, applied(choice), kBatchAndPrecision);
  text += choice.optimizer_state == machine::OptimizerState::streamed ? " --stream-optimizer" : "";
  return text;
}

std::string settings_to_add(const RunChoice& asked, const RunChoice& choice) {
  return difference(asked.configuration, applied(choice), 0);
}

machine::ComparedRun predicted_run(const std::string& label, const machine::Description& machine,
                                   const RunChoice& choice) {
  const PreparedRun run = prepared_run(machine, choice);
  return {label, machine::predict(run.machine, run.program, run.execution), run.events,
          choice.replicas * choice.pipeline};
}

PreparedRun prepared_run(const machine::Description& machine, const RunChoice& choice) {
  const machine::Description with_stack = machine::with_stack(machine, choice.stack);
  return {with_stack, machine::PreparedProgram(program_of(choice, with_stack)),
          execution_of(choice, with_stack.stack()),
          static_cast<double>(choice.configuration.run.minibatch_size * choice.replicas)};
}

}  // namespace cosmic::run
