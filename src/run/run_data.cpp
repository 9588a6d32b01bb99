#include "run/run_data.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/thread_budget.hpp"
#include "data/detector/detector_source.hpp"
#include "data/larcv/event_files.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/loader/synthetic_batches.hpp"

namespace cosmic::run {
namespace {

// The detector's images: what noise is made in the size of.
constexpr std::int64_t kDetectorRows = 1280;
constexpr std::int64_t kDetectorColumns = 2048;

data::OrderKind order_of(config::EventOrder order) {
  switch (order) {
    case config::EventOrder::random_blocks:
      return data::OrderKind::random_blocks;
    case config::EventOrder::serial_access:
      return data::OrderKind::serial_access;
    case config::EventOrder::shuffled:
      return data::OrderKind::shuffled;
  }
  COSMIC_ASSERT(false);
}

/// Threads of data.threads that read for one stream. Validation reads one batch for many of
/// training, so it gets one thread if there are several, and else reads in the thread that
/// computes.
int threads_of(Stream stream, const config::Configuration& configuration) {
  const int all = reading_threads(configuration);
  if (!has_validation_data(configuration)) {
    return all;
  }
  const int validating = all > 1 ? 1 : 0;
  return stream == Stream::validation ? validating : all - validating;
}

/// Seed of everything that a stream draws. Validation has one of its own, so it sees other events.
std::uint64_t seed_of(const config::Configuration& configuration, Stream stream) {
  return static_cast<std::uint64_t>(configuration.data.seed) +
         (stream == Stream::validation ? 1 : 0);
}

std::unique_ptr<data::EventSource> open_source(const config::Configuration& configuration,
                                               Stream stream) {
  const config::DataConfig& data = configuration.data;
  if (data.detector) {
    return std::make_unique<data::detector::DetectorSource>(
        data::detector::DetectorSource::kEndless, seed_of(configuration, stream));
  }
  return std::make_unique<data::larcv::LarcvSource>(
      data::larcv::LarcvOptions{.files = event_files(data, stream),
                                .image_producer = data.image_producer,
                                .label_producer = data.label_producer,
                                .labels = data::larcv::LabelUse::required});
}

/// Events of files, or of the detector.
class EventData final : public RunData {
 public:
  EventData(const config::Configuration& configuration, Stream stream,
            const std::optional<std::string>& state, Warn warn, const HandOver& hand_over,
            const data::Partition& partition)
      : source_(open_source(configuration, stream)),
        epoch_events_(source_->is_endless() ? configuration.data.epoch_events : source_->size()),
        samples_(*source_, sample_options(configuration, stream)),
        loader_(samples_,
                loader_options(configuration, stream, std::move(warn), hand_over, partition),
                state ? std::optional(data::order_state_from_text(*state)) : std::nullopt) {}

  const data::Batch& next() override { return *loader_.next(); }
  data::DenseShape shape() const override { return samples_.shape(); }
  std::int64_t memory_bytes() const override { return loader_.memory_bytes(); }
  std::int64_t epoch_size() const override { return epoch_events_; }
  std::string state() const override { return to_text(loader_.state()); }
  // Not before it is asked for: what has been read by then costs nothing any more.
  std::string fingerprint() const override {
    if (fingerprint_.empty()) {
      fingerprint_ = source_->fingerprint();
    }
    return fingerprint_;
  }
  std::vector<data::ReadNote> finish() override { return loader_.finish(); }
  std::string description() const override {
    const std::string remark = loader_.remark();
    return source_->description() + (remark.empty() ? "" : "; " + remark);
  }
  std::vector<data::SourcePart> parts() const override { return source_->parts(); }

 private:
  static data::LoaderOptions loader_options(const config::Configuration& configuration,
                                            Stream stream, Warn warn, const HandOver& hand_over,
                                            const data::Partition& partition) {
    const config::DataConfig& data = configuration.data;
    data::LoaderOptions options;
    options.batch = configuration.run.minibatch_size;
    options.partition = partition;
    options.order = {.kind = order_of(data.order),
                     .seed = seed_of(configuration, stream),
                     .start_index = configuration.mode.start_index};
    options.threads = threads_of(stream, configuration);
    options.warn = std::move(warn);
    if (data.detector) {
      options.ring = ring_for_making(options);
    }
    hand_over.set_up(options);
    return options;
  }

  static data::EventSampleOptions sample_options(const config::Configuration& configuration,
                                                 Stream stream) {
    return {.dense = dense_options(configuration),
            .augmentation = stream == Stream::training ? augmentation_of(configuration.data)
                                                       : data::Augmentation{}};
  }

  std::unique_ptr<data::EventSource> source_;
  std::int64_t epoch_events_;
  mutable std::string fingerprint_;
  data::EventSamples samples_;
  data::BatchLoader loader_;
};

class NoiseData final : public RunData {
 public:
  /// Each process makes noise of its own.
  NoiseData(const config::Configuration& configuration, const std::optional<std::string>& state,
            const data::Partition& partition)
      : shape_{kDetectorRows >> configuration.data.downsample,
               kDetectorColumns >> configuration.data.downsample},
        batches_({.batch = local_part(configuration.run.minibatch_size, partition).size(),
                  .shape = shape_,
                  .seed = static_cast<std::uint64_t>(configuration.data.seed) +
                          static_cast<std::uint64_t>(partition.rank)}) {
    const std::int64_t used = state ? std::stoll(*state) : 0;
    while (used_ < used) {
      next();
    }
  }

  const data::Batch& next() override {
    ++used_;
    return *batches_.next();
  }
  data::DenseShape shape() const override { return shape_; }
  std::int64_t memory_bytes() const override { return batches_.memory_bytes(); }
  std::int64_t epoch_size() const override { return batches_.epoch_size(); }
  std::string state() const override { return std::to_string(used_); }
  std::string fingerprint() const override { return "synthetic"; }
  std::vector<data::ReadNote> finish() override { return {}; }
  std::string description() const override { return "synthetic data (uniform noise)"; }
  std::vector<data::SourcePart> parts() const override { return {}; }

 private:
  data::DenseShape shape_;
  data::SyntheticBatches batches_;
  std::int64_t used_ = 0;
};

}  // namespace

SameEvents same_events(const std::string& stored_fingerprint, const std::string& fingerprint) {
  if (stored_fingerprint == fingerprint) {
    return SameEvents::yes;
  }
  // Earlier versions wrote a bare hexadecimal number.
  const bool earlier = !stored_fingerprint.empty() && stored_fingerprint.find_first_not_of(
                                                          "0123456789abcdef") == std::string::npos;
  return earlier ? SameEvents::unknown : SameEvents::no;
}

data::Augmentation augmentation_of(const config::DataConfig& data) {
  return {.flips = data.augment == config::Augmentation::flips,
          .charge = data.augment_charge,
          .noise = data.augment_noise,
          .dead_wires = data.augment_dead_wires};
}

data::EventSamples one_pass_samples(const data::EventSource& source,
                                    const config::Configuration& configuration) {
  return {source, {.dense = dense_options(configuration)}};
}

data::LoaderOptions one_pass_options(const config::Configuration& configuration, Warn warn) {
  data::LoaderOptions options;
  options.batch = configuration.run.minibatch_size;
  options.order = {.kind = data::OrderKind::serial_access,
                   .passes = data::Passes::one,
                   .start_index = configuration.mode.start_index};
  options.threads = reading_threads(configuration);
  options.warn = std::move(warn);
  return options;
}

int reading_threads(const config::Configuration& configuration) {
  const auto asked = static_cast<int>(configuration.data.threads);
  return asked == 0 ? thread_budget().threads : asked;
}

data::DenseOptions dense_options(const config::Configuration& configuration) {
  return {.downsample = static_cast<int>(configuration.data.downsample),
          .scale = configuration.data.img_transform ? data::ChargeScale::logarithmic
                                                    : data::ChargeScale::linear};
}

std::unique_ptr<RunData> open_run_data(const config::Configuration& configuration, Stream stream,
                                       const std::optional<std::string>& state, Warn warn,
                                       const HandOver& hand_over,
                                       const data::Partition& partition) {
  if (configuration.data.synthetic) {
    return std::make_unique<NoiseData>(configuration, state, partition);
  }
  return std::make_unique<EventData>(configuration, stream, state, std::move(warn), hand_over,
                                     partition);
}

std::vector<std::filesystem::path> event_files(const config::DataConfig& data, Stream stream) {
  const bool training = stream == Stream::training;
  return data::larcv::find_event_files(training ? data.file_paths() : data.aux_file_paths(),
                                       training ? "data.file" : "data.aux_file");
}

bool has_events(const config::Configuration& configuration, Stream stream) {
  if (configuration.data.kind() != config::DataKind::real) {
    return configuration.data.detector;
  }
  const std::vector<std::filesystem::path> names = stream == Stream::training
                                                       ? configuration.data.file_paths()
                                                       : configuration.data.aux_file_paths();
  // With one file there, one that is missing is a mistake, which whoever opens them all says.
  return std::any_of(names.begin(), names.end(), [](const std::filesystem::path& name) {
    return data::larcv::is_pattern(name) ? data::larcv::matches_file(name)
                                         : std::filesystem::exists(name);
  });
}

std::string list_of(const std::vector<data::SourcePart>& parts) {
  std::ostringstream text;
  for (const data::SourcePart& part : parts) {
    text << "\n  " << part.name << ": " << part.end - part.begin << " events";
  }
  return parts.size() > 1 ? text.str() : "";
}

bool has_validation_data(const config::Configuration& configuration) {
  return has_events(configuration, Stream::validation);
}

std::unique_ptr<data::EventSource> open_events(const config::Configuration& configuration) {
  if (configuration.data.detector) {
    return std::make_unique<data::detector::DetectorSource>(
        data::detector::DetectorSource::kEndless, seed_of(configuration, Stream::training));
  }
  return std::make_unique<data::larcv::LarcvSource>(
      data::larcv::LarcvOptions{.files = event_files(configuration.data, Stream::training),
                                .image_producer = configuration.data.image_producer,
                                .label_producer = configuration.data.label_producer,
                                .labels = data::larcv::LabelUse::if_present});
}

std::unique_ptr<data::EventSource> open_events_of_files(
    const config::Configuration& configuration) {
  COSMIC_REQUIRE(UserError, !configuration.data.detector,
                 "data=detector makes events without end and without a file (this command goes "
                 "through all events of a file); write some with `cosmictagger generate --events N "
                 "--seed S --output FILE` and give data.file=FILE");
  return open_events(configuration);
}

}  // namespace cosmic::run
