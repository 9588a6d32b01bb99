#include "run/run_data.hpp"

#include <filesystem>
#include <sstream>

#include "core/content_hash.hpp"
#include "core/error.hpp"
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

class FileData final : public RunData {
 public:
  FileData(const config::Configuration& configuration, Stream stream,
           const std::optional<std::string>& state)
      : source_(larcv_options(configuration, stream)),
        fingerprint_(fingerprint_of(source_)),
        samples_(source_, sample_options(configuration, stream)),
        loader_(samples_, loader_options(configuration, stream),
                state ? std::optional(data::order_state_from_text(*state)) : std::nullopt) {}

  const data::Batch& next() override { return *loader_.next(); }
  data::DenseShape shape() const override { return samples_.shape(); }
  std::int64_t epoch_size() const override { return loader_.epoch_size(); }
  std::string state() const override { return to_text(loader_.state()); }
  std::string fingerprint() const override { return fingerprint_; }
  std::string description() const override {
    const std::string remark = loader_.remark();
    return source_.description() + (remark.empty() ? "" : "; " + remark);
  }

 private:
  static data::larcv::LarcvOptions larcv_options(const config::Configuration& configuration,
                                                 Stream stream) {
    const config::DataConfig& data = configuration.data;
    return {.files = {stream == Stream::training ? data.file_path() : data.aux_file_path()},
            .image_producer = data.image_producer,
            .label_producer = data.label_producer,
            .labels = data::larcv::LabelUse::required};
  }

  static data::LoaderOptions loader_options(const config::Configuration& configuration,
                                            Stream stream) {
    const config::DataConfig& data = configuration.data;
    data::LoaderOptions options;
    options.batch = configuration.run.minibatch_size;
    // Validation sees other events each time, from a seed of its own.
    options.order = {
        .kind = order_of(data.order),
        .seed = static_cast<std::uint64_t>(data.seed) + (stream == Stream::validation ? 1 : 0),
        .start_index = configuration.mode.start_index};
    options.threads = static_cast<int>(data.threads);
    return options;
  }

  static data::EventSampleOptions sample_options(const config::Configuration& configuration,
                                                 Stream stream) {
    const bool flips =
        stream == Stream::training && configuration.data.augment == config::Augmentation::flips;
    return {.dense = dense_options(configuration),
            .augmentation = flips ? data::Augmentation::flips : data::Augmentation::none};
  }

  data::larcv::LarcvSource source_;
  std::string fingerprint_;
  data::EventSamples samples_;
  data::BatchLoader loader_;
};

class NoiseData final : public RunData {
 public:
  NoiseData(const config::Configuration& configuration, const std::optional<std::string>& state)
      : shape_{kDetectorRows >> configuration.data.downsample,
               kDetectorColumns >> configuration.data.downsample},
        batches_({.batch = configuration.run.minibatch_size,
                  .shape = shape_,
                  .seed = static_cast<std::uint64_t>(configuration.data.seed)}) {
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
  std::int64_t epoch_size() const override { return batches_.epoch_size(); }
  std::string state() const override { return std::to_string(used_); }
  std::string fingerprint() const override { return "synthetic"; }
  std::string description() const override { return "synthetic data (uniform noise)"; }

 private:
  data::DenseShape shape_;
  data::SyntheticBatches batches_;
  std::int64_t used_ = 0;
};

}  // namespace

std::string fingerprint_of(const data::EventSource& source) {
  // Numbers of events are cheap to hash, their pixels are not: a few entries stand for all.
  ContentHash hash;
  hash.add(static_cast<std::uint64_t>(source.size()));
  const auto reader = source.reader();
  data::SparseEvent event;
  for (const std::int64_t entry : {std::int64_t{0}, source.size() / 2, source.size() - 1}) {
    reader->read(entry, event);
    for (const data::SparsePlane& plane : event.image) {
      hash.add(std::span<const std::uint64_t>(plane.ids));
      hash.add(std::span<const float>(plane.values));
    }
  }
  std::ostringstream text;
  text << std::hex << hash.value();
  return text.str();
}

data::EventSamples one_pass_samples(const data::EventSource& source,
                                    const config::Configuration& configuration) {
  return {source, {.dense = dense_options(configuration)}};
}

data::LoaderOptions one_pass_options(const config::Configuration& configuration) {
  data::LoaderOptions options;
  options.batch = configuration.run.minibatch_size;
  options.order = {.kind = data::OrderKind::serial_access,
                   .passes = data::Passes::one,
                   .start_index = configuration.mode.start_index};
  options.threads = static_cast<int>(configuration.data.threads);
  return options;
}

data::DenseOptions dense_options(const config::Configuration& configuration) {
  return {.downsample = static_cast<int>(configuration.data.downsample),
          .scale = configuration.data.img_transform ? data::ChargeScale::logarithmic
                                                    : data::ChargeScale::linear};
}

std::unique_ptr<RunData> open_run_data(const config::Configuration& configuration, Stream stream,
                                       const std::optional<std::string>& state) {
  if (configuration.data.synthetic) {
    return std::make_unique<NoiseData>(configuration, state);
  }
  return std::make_unique<FileData>(configuration, stream, state);
}

bool has_validation_data(const config::Configuration& configuration) {
  return !configuration.data.synthetic && !configuration.data.aux_file.empty() &&
         std::filesystem::exists(configuration.data.aux_file_path());
}

std::unique_ptr<data::EventSource> open_events(const config::Configuration& configuration) {
  return std::make_unique<data::larcv::LarcvSource>(
      data::larcv::LarcvOptions{.files = {configuration.data.file_path()},
                                .image_producer = configuration.data.image_producer,
                                .label_producer = configuration.data.label_producer,
                                .labels = data::larcv::LabelUse::if_present});
}

}  // namespace cosmic::run
