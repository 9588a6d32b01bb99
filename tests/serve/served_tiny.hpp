// A tiny trained network, ready to be asked, the events that it is asked about, and what `infer`
// says about them.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "infer/inference.hpp"
#include "run/weights.hpp"
#include "scratch_folder.hpp"
#include "serve/inference_service.hpp"
#include "serve/served_network.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::serve {

constexpr const char* kTarget = "cpu";
constexpr std::uint64_t kRows = 16;
constexpr std::uint64_t kColumns = 32;
constexpr std::int64_t kEvents = 5;

/// Trains two networks once for all tests of a program.
class TinyWeights {
 public:
  static const TinyWeights& get() {
    static const TinyWeights weights;
    return weights;
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path file() const { return folder() / "train.h5"; }
  std::filesystem::path checkpoints() const { return folder() / "out" / "checkpoints"; }
  /// Another training of the same network, on the logarithm of charges.
  std::filesystem::path other_checkpoints() const { return folder() / "other" / "checkpoints"; }

  std::vector<data::SparseEvent> events() const {
    const data::larcv::LarcvSource source({.files = {file()}});
    const auto reader = source.reader();
    std::vector<data::SparseEvent> all(static_cast<std::size_t>(source.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      reader->read(static_cast<std::int64_t>(i), all[i]);
    }
    return all;
  }

 private:
  TinyWeights() {
    write_random_events(file(), kEvents, 1);
    KeptLog log;
    train::train(tiny_configuration(folder(), config::Mode::train,
                                    {"data.aux_file=none.h5", "run.length=3"}),
                 kTarget, log.log());
    train::train(tiny_configuration(
                     folder(), config::Mode::train,
                     {"data.aux_file=none.h5", "run.length=5", "run.seed=8",
                      "data.img_transform=true", "output_dir=" + (folder() / "other").string()}),
                 kTarget, log.log());
  }
  RunFolder folder_;
};

inline config::Configuration configuration_for(const std::filesystem::path& weights) {
  return config::parse(std::vector<std::string>{"run.id=serve", "run.threads=1",
                                                "mode.weights_location=" + weights.string()},
                       {.mode = config::Mode::inference,
                        .command = config::Command::infer,
                        .weights = run::weights_record})
      .configuration;
}

inline data::ImageMeta tiny_grid() {
  return {0, {kColumns, kRows}, {double(kColumns), double(kRows)}, {0, 0}};
}

inline ServingOptions tiny_serving() {
  ServingOptions options;
  options.grid = tiny_grid();
  options.batch_sizes = {1, 2};
  return options;
}

/// Models "tiny", versions 1 and 2, and what serves them.
class ServedTiny {
 public:
  explicit ServedTiny(ServiceOptions options = {}, const ServingOptions& serving = tiny_serving(),
                      const std::filesystem::path& access_log = {}, double slow_seconds = 0,
                      const ServingTarget& target = {kTarget, Provenance::measured})
      : serving_(serving),
        log_(access_log, slow_seconds, [this](const std::string& text) { told_ += text + "\n"; }),
        models_(
            [this] {
              return std::vector<ModelSource>{{"tiny", 1, weights_}, {"tiny", 2, weights_}};
            },
            [this, target](const ModelSource& source) {
              return serve_network(source, configuration_for(source.weights), target, serving_,
                                   slots_, [](const std::string&) {});
            }),
        service_(models_, log_, std::move(options)) {}

  InferenceService& service() { return service_; }
  ModelRepository& models() { return models_; }
  const std::string& told() const { return told_; }
  /// All that there are: two batches may be computed at a time.
  ComputeSlots& slots() { return slots_; }
  /// What the next load takes.
  void replace_weights(const std::filesystem::path& weights) { weights_ = weights; }

 private:
  std::filesystem::path weights_ = TinyWeights::get().checkpoints();
  ServingOptions serving_;
  std::string told_;
  ComputeSlots slots_{2};
  AccessLog log_;
  ModelRepository models_;
  InferenceService service_;
};

template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}
template <class Value>
std::vector<Value> values_in(std::string_view bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

/// The pixels of an event as the sparse tensors have them.
struct SentPixels {
  std::vector<std::uint8_t> plane;
  std::vector<std::int64_t> index;
  std::vector<float> charge;
};
inline SentPixels pixels_of(const data::SparseEvent& event) {
  SentPixels sent;
  for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
    for (std::size_t i = 0; i < event.image[plane].ids.size(); ++i) {
      sent.plane.push_back(static_cast<std::uint8_t>(plane));
      sent.index.push_back(static_cast<std::int64_t>(event.image[plane].ids[i]));
      sent.charge.push_back(event.image[plane].values[i]);
    }
  }
  return sent;
}

/// What `infer` with batches of this size writes about the pixels of an event.
inline std::vector<float> inferred(std::int64_t event, const char* product, int batch,
                                   const std::string& target = kTarget) {
  const ScratchFolder out("inferred");
  KeptLog log;
  const infer::InferenceSummary summary = infer::infer(
      tiny_configuration(
          TinyWeights::get().folder(), config::Mode::inference,
          {"mode.output_resolution=original", "run.minibatch_size=" + std::to_string(batch),
           "mode.output_file=" + (out.path() / "predictions.h5").string()}),
      target, log.log(), {}, {.existing = Existing::replace});
  data::larcv::ReadWarnings warnings;
  const data::larcv::EventFile file(summary.predictions, warnings);
  data::SparseImage image;
  data::larcv::Sparse2dReader(file, product, data::larcv::PixelMeaning::charge, warnings)
      .read(event, image);
  std::vector<float> values;
  for (const data::SparsePlane& plane : image) {
    values.insert(values.end(), plane.values.begin(), plane.values.end());
  }
  return values;
}

}  // namespace cosmic::serve
