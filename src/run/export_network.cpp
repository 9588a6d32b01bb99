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
                                                    const checkpoint::Checkpoint& checkpoint) {
  const std::int64_t side = std::int64_t{1} << network.options().depth;
  session::InferenceModel inference(network, {});
  inference.compile({graph::DType::f32, {1, 3, side, side}});
  checkpoint::restore_weights(checkpoint, *inference.state());
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
  const auto& notes = weights.loaded->checkpoint.run.notes;
  const auto temperature = notes.find(checkpoint::kTemperatureNote);
  if (temperature != notes.end()) {
    options.metadata["temperature"] = temperature->second;
  }
  if (request.softmax) {
    options.softmax_temperature = temperature == notes.end() ? 1.0 : std::stod(temperature->second);
  }
  options.metadata["outputs"] = request.softmax ? "probabilities" : "logits";
  checkpoint::onnx::write_onnx(request.output, network,
                               *restored_state(network, weights.loaded->checkpoint), options,
                               request.existing);
  return {network.name(), options.rows, options.columns};
}

}  // namespace cosmic::run
