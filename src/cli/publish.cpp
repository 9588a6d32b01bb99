// `cosmictagger checkpoint publish`: weights to ship, with a temperature and a model card.
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "data/larcv/event_files.hpp"
#include "tagger/publish.hpp"

namespace cosmic::cli {
namespace {

void publish_and_print(const tagger::PublishRequest& request) {
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  const tagger::Published published =
      tagger::publish(request, console.log(), [&](std::int64_t done, std::int64_t all) {
        console.show(static_cast<double>(done) / static_cast<double>(all),
                     fmt::format("{} of {} events", done, all));
      });
  console.finish();
  console.print(
      "Written   {} ({:.1f} MB): step {} of {}\n"
      "Written   {}\n"
      "Fitted    temperature {:.4f} to {} events: log likelihood loss {:.4f} to {:.4f}, "
      "calibration "
      "error {:.2f} % to {:.2f} %\n",
      published.file.string(),
      1e-6 * static_cast<double>(std::filesystem::file_size(published.file)), published.step,
      published.trained_as, published.card.string(), published.temperature, published.events,
      published.loss_before, published.loss_after, 100 * published.error_before,
      100 * published.error_after);
  if (published.same_tags) {
    console.print("Rounded   kernels to bfloat16: {:.3f} % of the tags are the same\n",
                  100 * *published.same_tags);
  }
}

}  // namespace

void add_checkpoint_publish(Command& checkpoint) {
  struct Options {
    tagger::PublishRequest request;
    std::vector<std::filesystem::path> files;
    std::string precision = "float32";
  };
  auto options = std::make_shared<Options>();  // the callback holds it too
  tagger::PublishRequest& request = options->request;
  Command* command = checkpoint.add_subcommand(
      "publish",
      "Write weights to ship: without optimizer, with calibrated probabilities and a model card");
  command->add_option("CHECKPOINT", request.checkpoint, "A checkpoint, or a folder of them")
      ->required();
  command
      ->add_option("--calibrate-on", options->files,
                   "larcv3 files with labels that were not trained on")
      ->required();
  command
      ->add_option("--output", request.output,
                   "The .safetensors file to write; the card is beside it, with the ending .md")
      ->required();
  command->add_option("--evaluation", request.evaluation,
                      "What `evaluate` wrote as JSON about this checkpoint, for the card");
  command->add_option("--events", request.most_events, "Most events to calibrate on")
      ->between(std::int64_t{1}, std::int64_t{1'000'000})
      ->capture_default_str();
  command
      ->add_option("--precision", options->precision,
                   "float32, or bfloat16 for kernels in half the bytes, if tags agree")
      ->type_name("FORMAT")
      ->capture_default_str();
  const OverwriteFlag overwrite(*command);
  command->allow_extras();  // settings, such as run.threads=4
  command->callback([options, command, overwrite] {
    const std::string& precision = options->precision;
    COSMIC_REQUIRE(
        UserError, precision == "float32" || precision == "bfloat16",
        "--precision " << precision << " (weights are written as float32 or bfloat16); choose one");
    options->request.halve = precision == "bfloat16";
    options->request.settings = command->remaining();
    options->request.existing = overwrite.existing();
    options->request.calibrate_on = data::larcv::find_event_files(options->files, "--calibrate-on");
    publish_and_print(options->request);
  });
}

}  // namespace cosmic::cli
