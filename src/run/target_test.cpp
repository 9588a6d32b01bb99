#include "run/target_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "checkpoint/checkpoint_folder.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "run/some_events.hpp"
#include "run/weights.hpp"
#include "session/call_shape.hpp"
#include "session/model.hpp"
#include "session/planning.hpp"

namespace cosmic::run {
namespace {

using target::check::ProgramData;
using target::check::ValueCheck;
using target::check::Verdict;

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// What the inputs of a program are in this test.
ProgramData inputs_of(const graph::Graph& program, const SomeEvents& events,
                      const session::Options& options, double learning_rate) {
  const std::int64_t batches = session::call_shape(options).batches();
  const std::span<const float> image =
      session::micro_batch(std::span<const float>(events.images), 0, batches);
  const std::span<const std::uint8_t> label =
      session::micro_batch(std::span<const std::uint8_t>(events.labels), 0, batches);
  const auto rate = static_cast<float>(learning_rate);
  const compile::AverageConstants average = compile::average_constants(options.weights_average);
  const std::map<std::string, std::span<const std::byte>> given{
      {session::kImage, std::as_bytes(image)},
      {session::kLabel, std::as_bytes(label)},
      {compile::kLearningRateInput, std::as_bytes(std::span(&rate, 1))},
      {compile::kAverageInput, std::as_bytes(std::span(average))}};
  ProgramData data;
  for (const graph::NamedValue& input : program.inputs) {
    data.inputs.push_back(copy_of(given.at(input.name)));
  }
  return data;
}

std::map<std::string, std::vector<std::byte>> first_states(
    const config::Configuration& configuration, const target::Target& target,
    const std::vector<const compile::Plan*>& plans, std::uint64_t seed,
    std::vector<std::string>& notes) {
  std::vector<const graph::Graph*> programs;
  for (const compile::Plan* plan : plans) {
    programs.push_back(&plan->graph);
  }
  session::ModelState state(target, programs, seed);
  if (!configuration.mode.weights_location.empty()) {
    require_named_weights(configuration);
    const checkpoint::LoadedCheckpoint loaded =
        checkpoint::load_newest(configuration.mode.weights_location);
    for (const checkpoint::Warning& warning : loaded.warnings) {
      notes.push_back(warning.file.string() + ": " + warning.reason);
    }
    check_settings(loaded, {configuration, config::Command::test},
                   [&](const std::string& what) { notes.push_back(what); });
    checkpoint::restore_weights(loaded.checkpoint, state);
  }
  std::map<std::string, std::vector<std::byte>> states;
  for (const std::string& name : state.names()) {
    states[name] = state.read(name).bytes;
  }
  return states;
}

/// Nothing is larger than what lies beyond its bound, or has errors all over.
double badness(const ValueCheck& check) {
  const double beyond = check.verdict == Verdict::wrong ? 1e6 : 0;
  return beyond + check.share();
}

}  // namespace

std::size_t TargetTest::values() const {
  std::size_t all = 0;
  for (const TestedProgram& program : programs) {
    all += program.check.values.size();
  }
  return all;
}

std::size_t TargetTest::count(Verdict verdict) const {
  std::size_t all = 0;
  for (const TestedProgram& program : programs) {
    all += program.check.count(verdict);
  }
  return all;
}

std::vector<LayerSummary> TargetTest::layers() const {
  std::vector<LayerSummary> layers;
  for (const TestedProgram& program : programs) {
    const std::size_t first = layers.size();
    for (const ValueCheck& check : program.check.values) {
      auto layer = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(first), layers.end(),
                                [&](const LayerSummary& l) { return l.layer == check.layer; });
      if (layer == layers.end()) {
        layers.push_back({program.name, check.layer, 0, check});
        layer = layers.end() - 1;
      }
      ++layer->values;
      if (badness(check) > badness(layer->worst)) {
        layer->worst = check;
      }
    }
  }
  return layers;
}

const ValueCheck& TargetTest::worst() const {
  const ValueCheck* worst = nullptr;
  for (const TestedProgram& program : programs) {
    for (const ValueCheck& check : program.check.values) {
      worst = worst == nullptr || badness(check) > badness(*worst) ? &check : worst;
    }
  }
  COSMIC_ASSERT(worst != nullptr);
  return *worst;
}

data::DenseShape smallest_image(const config::Configuration& configuration) {
  const std::int64_t side = std::int64_t{2} << configuration.network.depth;
  return {side, side};
}

TargetTest test_target(const config::Configuration& configuration, const target::Target& target,
                       const data::DenseShape& shape,
                       const std::function<void(std::size_t, std::size_t)>& progress) {
  session::Options options = training_options(configuration, std::string(target.name()));
  options.offline_compile = true;  // the plans are run here, where every value can be seen
  const model::UResNet network(configuration.network);
  const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
  session::TrainingModel model(network, loss, optimizer_of(configuration.mode.optimizer), options);
  model.compile(batch_types(configuration, shape));
  const std::int64_t batches = session::call_shape(options).batches();
  const SomeEvents events =
      some_events(configuration, shape, configuration.run.minibatch_size * batches);

  TargetTest test;
  test.events_from = events.origin;
  test.warnings = events.warnings;
  auto states = first_states(configuration, target, model.plans(), options.seed, test.notes);
  for (const compile::Plan* plan : model.plans()) {
    ProgramData data =
        inputs_of(plan->graph, events, options, configuration.mode.optimizer.learning_rate);
    data.states = std::move(states);
    test.programs.push_back(
        {test.programs.empty() ? "step" : "update",
         target::check::check_program(target, *plan, data, session::kernel_options(options),
                                      target::check::WholeProgram::yes, {}, progress)});
    states = test.programs.back().check.states;
  }
  return test;
}

}  // namespace cosmic::run
