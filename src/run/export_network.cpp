#include "run/export_network.hpp"

#include "config/parse.hpp"
#include "config/schema.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "data/dense_image.hpp"
#include "data/detector/geometry.hpp"
#include "model/uresnet.hpp"
#include "run/weights.hpp"
#include "session/model.hpp"

namespace cosmic::run {
namespace {

/// What the settings say and, where they say nothing, what the checkpoint was trained with.
config::Configuration configuration_of(const ExportRequest& request,
                                       const checkpoint::LoadedCheckpoint& loaded,
                                       const ExportHooks& hooks) {
  const config::WeightsRecord record{loaded.file.string(), loaded.checkpoint.run.configuration};
  COSMIC_REQUIRE(UserError, !request.settings.empty() || !record.configuration.empty(),
                 loaded.file.string()
                     << ": does not say which network its weights belong to (it contains no "
                        "configuration); name the network, such as network=a21");
  config::Resolved resolved = config::parse(
      request.settings, {.mode = config::Mode::inference,
                         .command = config::Command::export_network,
                         .missing = config::MissingKeys::leave,
                         .weights = [&](const config::Situation&) { return record; }});
  for (const std::string& note : resolved.notes) {
    hooks.note(note);
  }
  check_settings(loaded, {resolved.configuration, config::Command::export_network}, hooks.note);
  return std::move(resolved.configuration);
}

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
  const checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(request.weights);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    hooks.warning(warning);
  }
  const config::Configuration configuration = configuration_of(request, loaded, hooks);
  const model::UResNet network(configuration.network);
  checkpoint::onnx::ExportOptions options = request.onnx;
  const data::DenseShape detector = data::dense_shape(
      data::detector::meta_of(0), static_cast<int>(configuration.data.downsample));
  options.rows = request.onnx.rows > 0 ? request.onnx.rows : detector.rows;
  options.columns = request.onnx.columns > 0 ? request.onnx.columns : detector.columns;
  describe_settings(configuration, options.metadata);
  options.metadata["network"] = network.name();
  options.metadata["weights"] = loaded.file.filename().string();
  options.metadata["step"] = std::to_string(loaded.checkpoint.step);
  options.metadata["revision"] = revision;
  checkpoint::onnx::write_onnx(request.output, network, *restored_state(network, loaded.checkpoint),
                               options, request.existing);
  return {network.name(), options.rows, options.columns};
}

}  // namespace cosmic::run
