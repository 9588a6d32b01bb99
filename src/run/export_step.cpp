#include "run/export_step.hpp"

#include "checkpoint/onnx/onnx_step.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/whole_file.hpp"
#include "model/uresnet.hpp"
#include "run/run_choices.hpp"
#include "session/model.hpp"
#include "session/safetensors.hpp"

namespace cosmic::run {
namespace {

void require_plain_step(const config::Configuration& configuration) {
  const config::RunConfig& run = configuration.run;
  COSMIC_REQUIRE(UserError, run.precision == config::Precision::float32 && !run.tf32,
                 "run.precision=" << model::to_string(run.precision)
                                  << (run.tf32 ? " run.tf32=true" : "")
                                  << " in an ONNX step (its nodes are float32, and how a runtime "
                                     "narrows them is its own choice); leave these settings out");
  const std::int64_t batches = configuration.mode.optimizer.gradient_accumulation;
  COSMIC_REQUIRE(UserError, batches == 1,
                 "mode.optimizer.gradient_accumulation="
                     << batches
                     << " in an ONNX step (a step is one batch and one update); leave it out, and "
                        "choose a larger --batch");
  COSMIC_REQUIRE(UserError, configuration.mode.weights_average == 0,
                 "mode.weights_average="
                     << configuration.mode.weights_average
                     << " in an ONNX step (its states are those of the optimizer alone); leave it "
                        "out, and average what the step returns");
}

/// Of a training compiled for the smallest image, because a state exists for a compiled model only.
/// Two events: batch norm wants more than one number.
std::shared_ptr<session::ModelState> training_state(const model::UResNet& network,
                                                    const model::Loss& loss,
                                                    const ExportedWeights& weights) {
  const config::Configuration& configuration = weights.configuration;
  const std::int64_t side = std::int64_t{1} << network.options().depth;
  const graph::Shape image{2, 3, side, side};
  session::Options options;
  options.seed = static_cast<std::uint64_t>(configuration.framework.seed);
  session::TrainingModel training(network, loss, optimizer_of(configuration.mode.optimizer),
                                  options);
  training.compile({{graph::DType::f32, image}, {graph::DType::u8, image}});
  if (weights.loaded) {
    const checkpoint::Checkpoint& checkpoint = weights.loaded->checkpoint;
    if (checkpoint.origin == checkpoint::Origin::weights) {
      checkpoint::restore_weights(checkpoint, *training.state());
    } else {
      checkpoint::restore(checkpoint, *training.state());
    }
  }
  return training.state();
}

}  // namespace

std::filesystem::path state_beside(const std::filesystem::path& output) {
  return std::filesystem::path(output).replace_extension(".safetensors");
}

ExportedStep export_step(const StepRequest& request, const ExportHooks& hooks) {
  const ExportedWeights weights =
      load_for_export(request.source, config::Mode::train, config::Command::compile, hooks);
  const config::Configuration& configuration = weights.configuration;
  require_plain_step(configuration);
  const model::UResNet network(configuration.network);
  const data::DenseShape image = exported_image(configuration, request.rows, request.columns);
  const model::SegmentationLoss loss = loss_of(configuration.mode.optimizer);
  const compile::Optimizer optimizer = optimizer_of(configuration.mode.optimizer);
  checkpoint::onnx::StepOptions options{
      .opset = request.opset,
      .batch = request.batch > 0 ? request.batch : configuration.run.minibatch_size,
      .rows = image.rows,
      .columns = image.columns,
      .metadata = {{"network", network.name()},
                   {"weights", weights.name()},
                   {"step", std::to_string(weights.step())},
                   {"revision", std::string(revision)}}};
  const std::shared_ptr<session::ModelState> state = training_state(network, loss, weights);
  if (request.program == ExportedProgram::loss) {
    if (configuration.mode.optimizer.loss_balance_scheme == model::BalanceScheme::focal) {
      hooks.note(
          "mode.optimizer.loss_balance_scheme=focal: its weights depend on the logits and have no "
          "gradient, which ONNX cannot say; who differentiates this file differentiates them too "
          "(--step training has the gradients of this program)");
    }
    write_whole_file(request.output, checkpoint::onnx::encode_loss(network, loss, *state, options),
                     request.existing);
  } else {
    write_whole_file(request.output,
                     checkpoint::onnx::encode_training_step(network, loss, optimizer, options),
                     request.existing);
    session::save_tensors(state_beside(request.output), state->read_all(), options.metadata,
                          {.existing = request.existing});
  }
  return {network.name(), options.batch, options.rows, options.columns};
}

}  // namespace cosmic::run
