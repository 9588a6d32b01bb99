// `cosmictagger export`: a trained network as an ONNX file, or as a project for other software.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"
#include "core/printable.hpp"
#include "port/port_kit.hpp"
#include "run/export_network.hpp"
#include "run/export_step.hpp"
#include "run/input_files.hpp"
#include "tagger/box.hpp"

namespace cosmic::cli {
namespace {

struct ExportFlags {
  std::string platform;  ///< empty for an ONNX file
  std::string step = "inference";
  std::int64_t batch = 0;
  run::ExportRequest request;
};

run::ExportHooks told_hooks() {
  return {.warning =
              [](const checkpoint::Warning& warning) {
                tell("warning: {}: {}\n", warning.file.string(), escaped(warning.reason));
              },
          .note = [](const std::string& note) { tell("note: {}\n", note); }};
}

void export_and_print(const run::ExportRequest& request) {
  const run::ExportedNetwork network = run::export_network(request, told_hooks());
  const checkpoint::onnx::ExportOptions& onnx = request.onnx;
  fmt::print("Written   {} ({:.1f} MB): network {}, opset {}, image [{}, 3, {}, {}]\n",
             request.output.string(),
             1e-6 * static_cast<double>(std::filesystem::file_size(request.output)), network.name,
             onnx.opset, onnx.batch ? std::to_string(*onnx.batch) : "any", network.rows,
             network.columns);
}

void export_step_and_print(const ExportFlags& flags, run::ExportedProgram program,
                           const OutputRule& rule) {
  const run::ExportRequest& request = flags.request;
  const bool whole = program == run::ExportedProgram::training;
  require_output(request.output, rule);
  if (whole) {
    require_output(run::state_beside(request.output), rule);
  }
  const run::ExportedStep step = run::export_step({.source = request.source,
                                                   .program = program,
                                                   .output = request.output,
                                                   .opset = request.onnx.opset,
                                                   .batch = flags.batch,
                                                   .rows = request.onnx.rows,
                                                   .columns = request.onnx.columns,
                                                   .existing = rule.existing},
                                                  told_hooks());
  fmt::print("Written   {}: {} of network {}, opset {}, image and label [{}, 3, {}, {}]\n",
             request.output.string(), whole ? "training step" : "forward pass and loss",
             step.network, request.onnx.opset, step.batch, step.rows, step.columns);
  if (whole) {
    fmt::print("Written   {}: the state to begin with\n",
               run::state_beside(request.output).string());
  }
}

void write_kit_and_print(const ExportFlags& flags, const OutputRule& rule) {
  const run::ExportRequest& request = flags.request;
  const port::WrittenKit kit =
      port::write_port_kit({.source = request.source,
                            .platform = model::parse_enum<port::Platform>(flags.platform),
                            .output = request.output,
                            .rows = request.onnx.rows,
                            .columns = request.onnx.columns,
                            .existing = rule.existing,
                            .inputs = rule.inputs},
                           told_hooks());
  fmt::print("Written   {}: network {} for {}, {} files; README.md says how to run it\n",
             request.output.string(), kit.network, flags.platform, kit.files.size());
  if (!kit.verdict.empty()) {
    fmt::print("Modelled  {}\n", kit.verdict);
  }
  if (!kit.changed.empty()) {
    fmt::print("Changed   {}\n", kit.changed);
  }
}

void run_export(ExportFlags& flags, const std::vector<std::string>& settings, Existing existing) {
  run::ExportRequest& request = flags.request;
  request.source.settings = settings;
  if (!request.source.weights.empty()) {
    request.source.weights = tagger::weights_or_boxed(request.source.weights.string());
  }
  OutputRule rule{existing, {}};
  if (!request.source.weights.empty()) {
    rule.inputs = run::weights_files(request.source.weights);
  }
  add_recipe_files(rule, settings);
  const auto program = model::parse_enum<run::ExportedProgram>(flags.step);
  COSMIC_REQUIRE(UserError,
                 !request.softmax ||
                     (flags.platform.empty() && program == run::ExportedProgram::inference),
                 "--softmax with "
                     << (flags.platform.empty() ? "--step " + flags.step
                                                : "--for " + flags.platform)
                     << " (only an ONNX file for inference ends with probabilities); leave it out");
  if (!flags.platform.empty()) {
    COSMIC_REQUIRE(UserError, program == run::ExportedProgram::inference,
                   "--step " << flags.step << " with --for " << flags.platform
                             << " (a step is an ONNX file, --for writes a Python project); give "
                                "one of them");
    const ExportFlags usual;
    COSMIC_REQUIRE(UserError,
                   request.onnx.opset == usual.request.onnx.opset && flags.batch == usual.batch,
                   "--opset or --batch with --for "
                       << flags.platform
                       << " (they are of ONNX files; a project has run.minibatch_size); leave them "
                          "out");
    write_kit_and_print(flags, rule);
    return;
  }
  if (program != run::ExportedProgram::inference) {
    export_step_and_print(flags, program, rule);
    return;
  }
  COSMIC_REQUIRE(UserError, !request.source.weights.empty(),
                 "export without --weights (an ONNX file for inference holds trained weights); "
                 "name a checkpoint, or choose --step training or --for to begin with an untrained "
                 "network");
  require_output(request.output, rule);
  request.existing = rule.existing;
  if (flags.batch > 0) {
    request.onnx.batch = flags.batch;
  }
  export_and_print(request);
}

}  // namespace

void add_export(Command& app) {
  auto flags = std::make_shared<ExportFlags>();  // the callback holds it too
  run::ExportRequest& request = flags->request;
  Command* parser = app.add_subcommand(
      "export",
      "Write a trained network or a training step as ONNX, or a Python project for other software "
      "(--for)");
  parser->add_option(
      "--weights", request.source.weights,
      "A checkpoint, a folder of checkpoints, a safetensors file, or fast or best for a network in "
      "the box; a step and --for can do without");
  parser->add_option("--output", request.output, "The file to write; with --for a folder")
      ->required();
  parser
      ->add_option("--for", flags->platform,
                   fmt::format("Write a project for this software: {}",
                               fmt::join(model::EnumText<port::Platform>::names, ", ")))
      ->type_name("SOFTWARE");
  parser
      ->add_option("--step", flags->step,
                   "What the ONNX file computes: inference; loss, the forward pass in training; "
                   "training, the whole step with backward pass and update")
      ->type_name("WHAT")
      ->capture_default_str();
  parser
      ->add_option("--opset", request.onnx.opset,
                   fmt::format("Version of the ONNX operators, {} to {}",
                               checkpoint::onnx::kOldestOpset, checkpoint::onnx::kNewestOpset))
      ->capture_default_str();
  parser
      ->add_option("--batch", flags->batch,
                   "Events per run; 0 for any number, in a step for run.minibatch_size")
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
  parser->add_flag("--softmax", request.softmax,
                   "The ONNX file gives probabilities instead of logits, calibrated by the "
                   "temperature of the weights if they have one");
  const OverwriteFlag overwrite(*parser);
  parser->allow_extras();  // settings are read by config::parse
  parser->footer(
      "Settings are those of the weights. Weights without a configuration need the network: "
      "network=a21 network.depth=3 ...");
  parser->callback([flags, parser, overwrite] {
    run_export(*flags, parser->remaining(), overwrite.existing());
  });
}

}  // namespace cosmic::cli
