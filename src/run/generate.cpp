#include "run/generate.hpp"

#include "core/stopwatch.hpp"
#include "core/thread_budget.hpp"
#include "core/threads.hpp"
#include "data/detector/ordered_events.hpp"
#include "data/larcv/event_file_writer.hpp"

namespace cosmic::run {
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

GeneratedFile generate(const GenerateOptions& options,
                       const std::function<void(std::int64_t events, double seconds)>& progress) {
  const int threads = options.threads == 0 ? thread_budget().threads : options.threads;
  const data::detector::Detector detector;
  // Compressing takes about as long as making an event, so it gets the same threads.
  data::larcv::EventFileWriter writer(options.output,
                                      {.existing = options.existing, .team = Team(threads)});
  const Stopwatch watch;
  data::detector::make_in_order(detector, options.seed, options.events, threads,
                                [&](const data::detector::SimulatedEvent& simulated) {
                                  write(simulated, writer);
                                  progress(writer.events(), watch.seconds());
                                });
  writer.commit();
  return {.seconds = watch.seconds(), .bytes = std::filesystem::file_size(options.output)};
}

}  // namespace cosmic::run
