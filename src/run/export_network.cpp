#include "run/export_network.hpp"

#include "config/parse.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::run {
namespace {

/// What the settings say; without any, what the checkpoint was trained with.
model::UResNetOptions network_of(const ExportRequest& request,
                                 const checkpoint::LoadedCheckpoint& loaded,
                                 const ExportHooks& hooks) {
  if (!request.settings.empty()) {
    const config::Resolved resolved = config::parse(
        request.settings, {.mode = config::Mode::inference,
                           .command = config::Command::export_network,
                           .missing = config::MissingKeys::leave});
    for (const std::string& note : resolved.notes) {
      hooks.note(note);
    }
    return resolved.configuration.network;
  }
  const std::string& remembered = loaded.checkpoint.run.configuration;
  COSMIC_REQUIRE(UserError, !remembered.empty(),
                 loaded.file.string()
                     << ": does not say which network its weights belong to (it contains no "
                        "configuration); name the network, such as network=a21");
  return config::from_yaml(remembered, "configuration in " + loaded.file.string()).network;
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

std::string export_network(const ExportRequest& request, const ExportHooks& hooks) {
  const checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(request.weights);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    hooks.warning(warning);
  }
  const model::UResNet network(network_of(request, loaded, hooks));
  checkpoint::onnx::ExportOptions options = request.onnx;
  options.metadata["network"] = network.name();
  options.metadata["weights"] = loaded.file.filename().string();
  options.metadata["step"] = std::to_string(loaded.checkpoint.step);
  options.metadata["revision"] = revision;
  checkpoint::onnx::write_onnx(request.output, network, *restored_state(network, loaded.checkpoint),
                               options, request.existing);
  return network.name();
}

}  // namespace cosmic::run
