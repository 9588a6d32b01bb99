// A tiny trained network, ready to be asked, and the events that it is asked about.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "config/parse.hpp"
#include "data/larcv/larcv_source.hpp"
#include "run/weights.hpp"
#include "serve/inference_service.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::serve {

constexpr const char* kTarget = "cpu";
constexpr std::uint64_t kRows = 16;
constexpr std::uint64_t kColumns = 32;
constexpr std::int64_t kEvents = 5;

/// Trains it once for all tests of a program.
class TinyWeights {
 public:
  static const TinyWeights& get() {
    static const TinyWeights weights;
    return weights;
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path file() const { return folder() / "train.h5"; }
  std::filesystem::path checkpoints() const { return folder() / "out" / "checkpoints"; }

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
                      const std::filesystem::path& access_log = {})
      : serving_(serving),
        log_(access_log, 0, [this](const std::string& text) { told_ += text + "\n"; }),
        models_(
            [this] {
              return std::vector<ModelSource>{{"tiny", 1, weights_}, {"tiny", 2, weights_}};
            },
            [this](const ModelSource& source) {
              return std::make_shared<const ServedModel>(source, configuration_for(source.weights),
                                                         kTarget, serving_, slots_,
                                                         [](const std::string&) {});
            }),
        service_(models_, log_, std::move(options)) {}

  InferenceService& service() { return service_; }
  ModelRepository& models() { return models_; }
  const std::string& told() const { return told_; }
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

}  // namespace cosmic::serve
