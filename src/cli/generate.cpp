// `cosmictagger generate`: events of the detector simulation, as a larcv3 file.
#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/output_options.hpp"
#include "cli/progress_bar.hpp"
#include "core/limits.hpp"
#include "run/generate.hpp"

namespace cosmic::cli {
namespace {

void generate_and_print(const run::GenerateOptions& options) {
  ProgressBar bar;
  const auto all = static_cast<double>(options.events);
  const run::GeneratedFile file = run::generate(options, [&](std::int64_t events, double seconds) {
    const auto done = static_cast<double>(events);
    bar.update(done / all, fmt::format("{} of {} events, {:.1f} events/s", events, options.events,
                                       done / seconds));
  });
  bar.finish();
  fmt::print("Written   {} events to {} ({:.1f} MB), seed {}, in {:.1f} s: {:.1f} events/s\n",
             options.events, options.output.string(), 1e-6 * static_cast<double>(file.bytes),
             options.seed, file.seconds, all / file.seconds);
}

}  // namespace

void add_generate(Command& app) {
  auto options = std::make_shared<run::GenerateOptions>();  // the callback holds it too
  Command* command =
      app.add_subcommand("generate", "Write a larcv3 file with simulated detector events");
  command->add_option("--events", options->events, "Number of events")
      ->between(1, kMostGeneratedEvents)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Random seed; the same seed gives the same events")
      ->capture_default_str();
  command->add_option("--output", options->output, "The file to write")->required();
  command->add_option("--threads", options->threads, "Threads; 0 for all cores")
      ->between(0, kMostThreads)
      ->capture_default_str();
  const OverwriteFlag overwrite(*command);
  command->callback([options, overwrite] {
    options->existing = overwrite.existing();
    require_output(options->output, {.existing = options->existing});
    generate_and_print(*options);
  });
}

}  // namespace cosmic::cli
