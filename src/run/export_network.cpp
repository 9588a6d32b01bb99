#include "run/export_network.hpp"

#include "checkpoint/checkpoint_file.hpp"
#include "config/schema.hpp"
#include "core/config.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::run {
namespace {

/// Whoever runs the file elsewhere has to make the images that the weights know.
void describe_settings(const config::Configuration& configuration,
                       std::map<std::string, std::string>& metadata) {
  for (const config::Key& key : config::schema()) {
    if (key.of_weights == config::OfWeights::belongs && key.applies_to(configuration)) {
      metadata[key.name] = config::to_text(key.read(configuration));
    }
  }
}

/// A state exists for a compiled model only; the smallest image compiles in no time.
std::shared_ptr<session::ModelState> restored_state(const model::UResNet& network,
                                                    const checkpoint::Checkpoint& checkpoint,
                                                    checkpoint::Which which) {
  const std::int64_t side = std::int64_t{1} << network.options().depth;
  session::InferenceModel inference(network, {});
  inference.compile({graph::DType::f32, {1, 3, side, side}});
  checkpoint::restore_weights(checkpoint, *inference.state(), which);
  return inference.state();
}

}  // namespace

ExportedNetwork export_network(const ExportRequest& request, const ExportHooks& hooks) {
  const ExportedWeights weights = load_for_export(request.source, config::Mode::inference,
                                                  config::Command::export_network, hooks);
  const model::UResNet network(weights.configuration.network);
  checkpoint::onnx::ExportOptions options = request.onnx;
  const data::DenseShape image =
      exported_image(weights.configuration, request.onnx.rows, request.onnx.columns);
  options.rows = image.rows;
  options.columns = image.columns;
  describe_settings(weights.configuration, options.metadata);
  options.metadata["network"] = network.name();
  options.metadata["weights"] = weights.name();
  options.metadata["step"] = std::to_string(weights.step());
  options.metadata["revision"] = revision;
  const checkpoint::Checkpoint& checkpoint = weights.loaded->checkpoint;
  const bool averaged =
      weights.configuration.mode.averaged_weights && checkpoint::has_averages(checkpoint);
  if (averaged) {
    options.metadata["averaged_weights"] = "true";
    hooks.note(weights.name() +
               ": its weights are written as their moving average; mode.averaged_weights=false for "
               "those of the last update");
  }
  const auto& notes = checkpoint.run.notes;
  const auto temperature = notes.find(checkpoint::kTemperatureNote);
  if (temperature != notes.end()) {
    options.metadata["temperature"] = temperature->second;
  }
  if (request.softmax) {
    options.softmax_temperature = temperature == notes.end() ? 1.0 : std::stod(temperature->second);
  }
  options.metadata["outputs"] = request.softmax ? "probabilities" : "logits";
  const auto which = averaged ? checkpoint::Which::averaged : checkpoint::Which::last;
  checkpoint::onnx::write_onnx(request.output, network, *restored_state(network, checkpoint, which),
                               options, request.existing);
  return {network.name(), options.rows, options.columns};
}

}  // namespace cosmic::run
