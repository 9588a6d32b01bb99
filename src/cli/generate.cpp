#include "cli/generate.hpp"

#include <fmt/core.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_bar.hpp"
#include "core/stopwatch.hpp"
#include "core/threads.hpp"
#include "data/detector/ordered_events.hpp"
#include "data/larcv/event_file_writer.hpp"

namespace cosmic::cli {
namespace {

// The names that the reference's files and configurations use.
constexpr const char* kImageProducer = "sbndwire";
constexpr const char* kLabelProducer = "sbnd_cosmicseg";
constexpr const char* kNeutrinoProducer = "sbndneutrino";
constexpr const char* kBoxProducer = "bbox_neutrino";

void write(const data::detector::SimulatedEvent& simulated, data::larcv::EventFileWriter& writer) {
  writer.begin_event(simulated.event.id);
  writer.write_sparse(kImageProducer, simulated.event.image);
  writer.write_sparse(kLabelProducer, simulated.event.labels);
  writer.write_clusters(kNeutrinoProducer, simulated.vertex);
  writer.write_particles(kNeutrinoProducer, simulated.particles);
  writer.write_boxes(kBoxProducer, simulated.neutrino_boxes);
}

}  // namespace

void run_generate(const GenerateOptions& options) {
  const int threads = options.threads == 0 ? available_cores() : options.threads;
  const data::detector::Detector detector;
  // Compressing takes about as long as making an event, so it gets the same threads.
  data::larcv::EventFileWriter writer(options.output,
                                      {.existing = options.existing, .team = Team(threads)});
  ProgressBar bar;
  const Stopwatch watch;
  data::detector::make_in_order(
      detector, options.seed, options.events, threads,
      [&](const data::detector::SimulatedEvent& simulated) {
        write(simulated, writer);
        const auto done = static_cast<double>(writer.events());
        bar.update(done / static_cast<double>(options.events),
                   fmt::format("{} of {} events, {:.1f} events/s", writer.events(), options.events,
                               done / watch.seconds()));
      });
  writer.commit();
  const double seconds = watch.seconds();
  bar.finish();
  fmt::print("Written   {} events to {} ({:.1f} MB), seed {}, in {:.1f} s: {:.1f} events/s\n",
             options.events, options.output.string(),
             1e-6 * static_cast<double>(std::filesystem::file_size(options.output)), options.seed,
             seconds, static_cast<double>(options.events) / seconds);
}

void add_generate(Command& app) {
  auto options = std::make_shared<GenerateOptions>();  // the callback holds it too
  Command* command =
      app.add_subcommand("generate", "Write a larcv3 file with events of the detector simulation");
  command->add_option("--events", options->events, "How many")->positive()->capture_default_str();
  command->add_option("--seed", options->seed, "Another seed gives other events")
      ->capture_default_str();
  command->add_option("--output", options->output, "The file to write")->required();
  command->add_option("--threads", options->threads, "Threads; 0 for all cores")
      ->not_negative()
      ->capture_default_str();
  command->add_flag_callback(
      "--overwrite", [options] { options->existing = Existing::replace; },
      "Replace the file if it exists");
  command->callback([options] { run_generate(*options); });
}

}  // namespace cosmic::cli
