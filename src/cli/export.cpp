#include "cli/export.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/commands.hpp"
#include "config/parse.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "model/uresnet.hpp"
#include "session/model.hpp"

namespace cosmic::cli {
namespace {

struct ExportFlags {
  std::int64_t batch = 0;
  ExportCommand command;
};

checkpoint::LoadedCheckpoint load(const std::filesystem::path& location) {
  checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(location);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    fmt::print(stderr, "warning: {}: {}\n", warning.file.string(), escaped(warning.reason));
  }
  return loaded;
}

/// What the settings say; without any, what the checkpoint was trained with.
model::UResNetOptions network_of(const ExportCommand& command,
                                 const checkpoint::LoadedCheckpoint& loaded) {
  if (!command.settings.empty()) {
    const config::Resolved resolved =
        config::parse(command.settings, {.mode = config::Mode::inference,
                                         .command = config::Command::export_network,
                                         .missing = config::MissingKeys::leave});
    for (const std::string& note : resolved.notes) {
      fmt::print(stderr, "note: {}\n", note);
    }
    return resolved.configuration.network;
  }
  const std::string& remembered = loaded.checkpoint.run.configuration;
  COSMIC_REQUIRE(UserError, !remembered.empty(),
                 loaded.file.string() << ": does not say which network its weights belong to (it "
                                         "carries no configuration); give the network, such as "
                                         "network=a21");
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

void run_export(const ExportCommand& command) {
  const checkpoint::LoadedCheckpoint loaded = load(command.weights);
  const model::UResNet network(network_of(command, loaded));
  onnx::ExportOptions options = command.onnx;
  options.metadata["network"] = network.name();
  options.metadata["weights"] = loaded.file.filename().string();
  options.metadata["step"] = std::to_string(loaded.checkpoint.step);
  options.metadata["revision"] = revision;
  onnx::write_onnx(command.output, network, *restored_state(network, loaded.checkpoint), options,
                   command.existing);
  fmt::print("Written   {} ({:.1f} MB): network {}, opset {}, image [{}, 3, {}, {}]\n",
             command.output.string(),
             1e-6 * static_cast<double>(std::filesystem::file_size(command.output)), network.name(),
             options.opset, options.batch ? std::to_string(*options.batch) : "any", options.rows,
             options.columns);
}

void add_export(CLI::App& app) {
  auto flags = std::make_shared<ExportFlags>();  // the callback holds it too
  ExportCommand& command = flags->command;
  CLI::App* parser = app.add_subcommand(
      "export",
      "Write a trained network as an ONNX file. Weights without a configuration need the network: "
      "network=a21 network.depth=3 ...");
  parser
      ->add_option("--weights", command.weights,
                   "A checkpoint, a folder of checkpoints, or a safetensors file")
      ->required();
  parser->add_option("--output", command.output, "The file to write")->required();
  parser
      ->add_option("--opset", command.onnx.opset,
                   fmt::format("Version of the ONNX operators, {} to {}", onnx::kOldestOpset,
                               onnx::kNewestOpset))
      ->capture_default_str();
  parser->add_option("--batch", flags->batch, "Events per run; 0 leaves it open")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  parser->add_option("--rows", command.onnx.rows, "Rows of an image")->capture_default_str();
  parser->add_option("--columns", command.onnx.columns, "Columns of an image")
      ->capture_default_str();
  parser->add_flag_callback(
      "--overwrite", [flags] { flags->command.existing = Existing::replace; },
      "Replace the file if it exists");
  parser->allow_extras();  // settings are read by config::parse
  parser->callback([flags, parser] {
    flags->command.settings = parser->remaining();
    if (flags->batch > 0) {
      flags->command.onnx.batch = flags->batch;
    }
    run_export(flags->command);
  });
}

}  // namespace cosmic::cli
