#include "cli/live_tags.hpp"

#include <chrono>
#include <vector>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "config/parse.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"
#include "infer/inference.hpp"
#include "run/generate.hpp"

namespace cosmic::cli {
namespace {

constexpr std::chrono::milliseconds kLook{2000};
constexpr std::chrono::milliseconds kLookForEnd{100};
constexpr const char* kNeutrinoProducer = "sbndneutrino";

/// Thrown between two events when nobody looks any more.
struct NobodyLooks {};

/// Images, labels and true particles of the first events of a file.
void copy_events(const std::vector<std::filesystem::path>& files, const config::DataConfig& data,
                 std::int64_t events, const std::filesystem::path& to) {
  const data::larcv::LarcvSource source({files, data.image_producer, data.label_producer});
  data::larcv::ReadWarnings warnings;
  const data::larcv::EventFile first(files.front(), warnings);
  std::optional<data::larcv::ParticleReader> particles;
  if (first.has({"particle", kNeutrinoProducer})) {
    particles.emplace(first, kNeutrinoProducer, warnings);
  }
  const auto reader = source.reader();
  data::larcv::EventFileWriter writer(to);
  data::SparseEvent event;
  std::vector<data::Particle> true_particles;
  for (std::int64_t entry = 0; entry < std::min(events, first.size()); ++entry) {
    reader->read(entry, event);
    writer.begin_event(event.id);
    writer.write_sparse(data.image_producer, event.image);
    if (event.labelled) {
      writer.write_sparse(data.label_producer, event.labels);
    }
    if (particles) {
      particles->read(entry, true_particles);
      writer.write_particles(kNeutrinoProducer, true_particles);
    }
  }
  writer.commit();
}

config::Configuration settings_of(const std::filesystem::path& run) {
  return config::parse(std::vector<std::string>{"--config-name", (run / "config.yaml").string()})
      .configuration;
}

}  // namespace

std::optional<std::filesystem::path> watched_events(const std::filesystem::path& run,
                                                    std::int64_t events,
                                                    const std::filesystem::path& folder) {
  if (!std::filesystem::exists(run / "config.yaml")) {
    return std::nullopt;
  }
  const config::Configuration settings = settings_of(run);
  const std::filesystem::path to = folder / "watched.h5";
  if (settings.data.detector) {
    // Validations use the events of the next seed.
    run::generate({.events = events,
                   .seed = static_cast<std::uint64_t>(settings.data.seed) + 1,
                   .output = to,
                   .threads = 1});
    return to;
  }
  if (settings.data.synthetic || settings.data.aux_file.empty()) {
    return std::nullopt;
  }
  const std::vector<std::filesystem::path> files =
      data::larcv::find_event_files(settings.data.aux_file_paths(), "data.aux_file");
  if (files.empty() || !std::filesystem::exists(files.front())) {
    return std::nullopt;
  }
  copy_events(files, settings.data, events, to);
  return to;
}

LiveTags::LiveTags(std::filesystem::path run, std::filesystem::path events, view::EventStore& store)
    : run_(std::move(run)), events_(std::move(events)), store_(store) {
  thread_ = std::thread([this] { watch(); });
}

LiveTags::~LiveTags() {
  stop_ = true;
  thread_.join();
}

void LiveTags::watch() {
  std::filesystem::path tagged;
  while (!stop_) {
    try {
      std::vector<checkpoint::Warning> warnings;
      const std::vector<std::filesystem::path> found =
          checkpoint::find_checkpoints(run_ / "checkpoints", warnings);
      if (!found.empty() && found.front() != tagged) {
        tagged = found.front();
        tag(tagged);
      }
    } catch (const NobodyLooks&) {
      return;
    } catch (const std::exception& error) {
      // The run may have removed it meanwhile; the next checkpoint is another chance.
      tell("warning: {} could not be tagged with: {}\n", tagged.string(), error.what());
    }
    for (auto waited = kLookForEnd; waited <= kLook && !stop_; waited += kLookForEnd) {
      std::this_thread::sleep_for(kLookForEnd);
    }
  }
}

void LiveTags::tag(const std::filesystem::path& checkpoint) {
  config::Configuration configuration =
      configuration_from({"run.id=view", "mode.output_resolution=original", "run.threads=1",
                          "run.minibatch_size=1", "mode.weights_location=" + checkpoint.string()},
                         config::Command::infer);
  configuration.data.data_directory.clear();
  configuration.data.file = {events_.string()};
  const std::string name = checkpoint.stem().string();  // model-400
  const std::filesystem::path output = events_.parent_path() / (name + ".h5");
  configuration.mode.output_file = output.string();
  RunConsole console = RunConsole::without_file(output::LogLevel::warning);
  infer::InferenceHooks hooks;
  hooks.progress = [&](const infer::InferenceProgress&) {
    if (stop_) {
      throw NobodyLooks();
    }
  };
  infer::infer(configuration, target_for(configuration.run.compute_mode), console.log(), hooks,
               {.existing = Existing::replace}, nullptr, {infer::Placement::beside_inputs});
  store_.add_network(name, output);
}

}  // namespace cosmic::cli
