// `cosmictagger export`: a trained network as an ONNX file.
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "core/limits.hpp"
#include "core/printable.hpp"
#include "run/export_network.hpp"
#include "run/input_files.hpp"

namespace cosmic::cli {
namespace {

struct ExportFlags {
  std::int64_t batch = 0;
  run::ExportRequest request;
};

void export_and_print(const run::ExportRequest& request) {
  const run::ExportHooks hooks{.warning =
                                   [](const checkpoint::Warning& warning) {
                                     tell("warning: {}: {}\n", warning.file.string(),
                                          escaped(warning.reason));
                                   },
                               .note = [](const std::string& note) { tell("note: {}\n", note); }};
  const run::ExportedNetwork network = run::export_network(request, hooks);
  const checkpoint::onnx::ExportOptions& onnx = request.onnx;
  fmt::print("Written   {} ({:.1f} MB): network {}, opset {}, image [{}, 3, {}, {}]\n",
             request.output.string(),
             1e-6 * static_cast<double>(std::filesystem::file_size(request.output)), network.name,
             onnx.opset, onnx.batch ? std::to_string(*onnx.batch) : "any", network.rows,
             network.columns);
}

}  // namespace

void add_export(Command& app) {
  auto flags = std::make_shared<ExportFlags>();  // the callback holds it too
  run::ExportRequest& request = flags->request;
  Command* parser = app.add_subcommand(
      "export",
      "Write a trained network as an ONNX file. Its settings are those of the weights; weights "
      "without a configuration need the network: network=a21 network.depth=3 ...");
  parser
      ->add_option("--weights", request.weights,
                   "A checkpoint, a folder of checkpoints, or a safetensors file")
      ->required();
  parser->add_option("--output", request.output, "The file to write")->required();
  parser
      ->add_option("--opset", request.onnx.opset,
                   fmt::format("Version of the ONNX operators, {} to {}",
                               checkpoint::onnx::kOldestOpset, checkpoint::onnx::kNewestOpset))
      ->capture_default_str();
  parser->add_option("--batch", flags->batch, "Events per run; 0 for any number")
      ->between(0, kMostBatchEvents)
      ->capture_default_str();
  request.onnx.rows = request.onnx.columns = 0;
  parser
      ->add_option("--rows", request.onnx.rows,
                   "Rows of an image; by default the detector's, halved as often as for the "
                   "weights (data.downsample)")
      ->not_negative();
  parser->add_option("--columns", request.onnx.columns, "Columns of an image, likewise")
      ->not_negative();
  const OverwriteFlag overwrite(*parser);
  parser->allow_extras();  // settings are read by config::parse
  parser->callback([flags, parser, overwrite] {
    flags->request.settings = parser->remaining();
    OutputRule rule{overwrite.existing(), run::weights_files(flags->request.weights)};
    add_recipe_files(rule, flags->request.settings);
    require_output(flags->request.output, rule);
    flags->request.existing = rule.existing;
    if (flags->batch > 0) {
      flags->request.onnx.batch = flags->batch;
    }
    export_and_print(flags->request);
  });
}

}  // namespace cosmic::cli
