#include "infer/tagger.hpp"

#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint_folder.hpp"
#include "core/error.hpp"
#include "infer/softmax.hpp"
#include "infer/temperature.hpp"
#include "model/classify.hpp"
#include "run/compile_log.hpp"
#include "run/run_choices.hpp"
#include "run/weights.hpp"

namespace cosmic::infer {
namespace {

/// The pixels of an event, set in an image that is zero, and taken out of it again: most of it is
/// never touched.
template <class Value>
class SetPixels {
 public:
  /// Of a batch without pixels, nothing.
  SetPixels(std::span<Value> image, const data::BatchPixels<Value>& batch, std::size_t event)
      : image_(image) {
    if (batch.first.empty()) {
      return;
    }
    const auto first = static_cast<std::size_t>(batch.first[event]);
    const std::size_t count = static_cast<std::size_t>(batch.first[event + 1]) - first;
    places_ = batch.places.subspan(first, count);
    const std::span<const Value> values = batch.values.subspan(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      image_[static_cast<std::size_t>(places_[i])] = values[i];
    }
  }
  ~SetPixels() {
    for (const std::int32_t place : places_) {
      image_[static_cast<std::size_t>(place)] = 0;
    }
  }
  SetPixels(const SetPixels&) = delete;
  SetPixels& operator=(const SetPixels&) = delete;

 private:
  std::span<Value> image_;
  std::span<const std::int32_t> places_;
};

}  // namespace

EventConfusion TaggedEvent::confusion() const {
  EventConfusion result;
  const std::size_t pixels = shape.plane_pixels();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    result[plane].add(labels.subspan(plane * pixels, pixels),
                      classes.subspan(plane * pixels, pixels));
  }
  return result;
}

data::SparseImage TaggedEvent::probabilities(data::Label which) const {
  data::SparseImage image;
  const auto rows = static_cast<std::uint64_t>(shape.rows);
  const auto columns = static_cast<std::uint64_t>(shape.columns);
  const std::size_t pixels = shape.plane_pixels();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    data::SparsePlane& sparse = image[plane];
    sparse.meta = {
        plane, {columns, rows}, {static_cast<double>(columns), static_cast<double>(rows)}, {0, 0}};
    // Ids ascend along a column first.
    for (std::uint64_t column = 0; column < columns; ++column) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::size_t at = row * columns + column;
        if (charge[plane * pixels + at] == 0) {
          continue;
        }
        sparse.ids.push_back(column * rows + row);
        sparse.values.push_back(softmax(logits[plane], pixels, at, which, temperature));
      }
    }
  }
  return image;
}

StoredPixels TaggedEvent::at_pixels_of(const data::SparseImage& stored, int downsample) const {
  StoredPixels scores;
  const std::size_t pixels = shape.plane_pixels();
  const auto columns = static_cast<std::uint64_t>(shape.columns);
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const data::SparsePlane& from = stored[plane];
    for (data::SparseImage* const image : {&scores.tag, &scores.cosmic, &scores.neutrino}) {
      (*image)[plane].meta = from.meta;
      (*image)[plane].ids = from.ids;
      (*image)[plane].values.reserve(from.ids.size());
    }
    const std::uint64_t rows = from.meta.rows();
    for (const std::uint64_t pixel : from.ids) {
      const std::size_t at =
          ((pixel % rows) >> downsample) * columns + ((pixel / rows) >> downsample);
      const auto probability = [&](data::Label which) {
        return softmax(logits[plane], pixels, at, which, temperature);
      };
      scores.tag[plane].values.push_back(static_cast<float>(classes[plane * pixels + at]));
      scores.cosmic[plane].values.push_back(probability(data::Label::cosmic));
      scores.neutrino[plane].values.push_back(probability(data::Label::neutrino));
    }
  }
  return scores;
}

Tagger::Tagger(const config::Configuration& configuration, const std::string& target,
               const data::DenseShape& shape, output::RunLog& log,
               const std::function<void(double, const std::string&)>& compiling)
    : network_(configuration.network),
      options_(run::inference_options(configuration, target)),
      shape_(shape),
      events_at_a_time_(configuration.run.minibatch_size) {
  options_.progress = compiling;
  model_.emplace(network_, options_);
  const session::CompileReport& report =
      model_->compile(run::batch_types(configuration, shape).image);
  run::log_compilation(log, "the inference", report);
  run::log_prediction(log, "the inference", report, configuration.run.minibatch_size);
  load_weights(configuration, log);
}

void Tagger::load_weights(const config::Configuration& configuration, output::RunLog& log) {
  run::require_named_weights(configuration);
  const std::filesystem::path location =
      configuration.mode.weights_location.empty()
          ? run::checkpoints_of(configuration)
          : std::filesystem::path(configuration.mode.weights_location);
  std::vector<checkpoint::Warning> warnings;
  COSMIC_REQUIRE(
      UserError, !checkpoint::find_checkpoints(location, warnings).empty(),
      "no weights found at '"
          << location.string()
          << "' (an untrained network would tag pixels at random); give mode.weights_location=FILE "
             "or FOLDER, or the run.id, network and output_dir of the training run");
  checkpoint::LoadedCheckpoint loaded = checkpoint::load_newest(location);
  for (const checkpoint::Warning& warning : loaded.warnings) {
    log.warning(warning.file.string() + ": " + warning.reason);
  }
  const std::vector<config::Contradiction> insisted =
      run::check_settings(loaded, {configuration, config::Command::infer},
                          [&](const std::string& what) { log.warning(what); });
  if (!insisted.empty()) {
    log.warning(config::insistence_on(insisted, loaded.file.string()));
  }
  for (const config::Contradiction& one : insisted) {
    insisted_on_.push_back(one.text());
  }
  const bool averaged =
      configuration.mode.averaged_weights && checkpoint::has_averages(loaded.checkpoint);
  checkpoint::restore_weights(loaded.checkpoint, *model_->state(),
                              averaged ? checkpoint::Which::averaged : checkpoint::Which::last);
  weights_ = loaded.file;
  step_ = loaded.checkpoint.step;
  trained_on_ = loaded.checkpoint.run.data_fingerprint;
  log.info("Restoring weights from " + weights_.string() +
           (averaged ? " (their moving average; mode.averaged_weights=false for those of the last "
                       "update)"
                     : ""));
  try {
    temperature_ = temperature_of(loaded.checkpoint.run.notes);
    known_inputs_ = input_profile_in(loaded.checkpoint.run.notes);
  } catch (const DataError& error) {
    throw DataError(weights_.string() + ": " + error.what());
  }
  if (temperature_ != 1) {
    log.info(
        "Probabilities are calibrated: scores are divided by the temperature of the weights, " +
        temperature_text(temperature_) + ".");
  }
}

void Tagger::refuse_scores(const TaggedEvent& event, std::size_t plane) const {
  const bool sound_image = std::all_of(event.charge.begin(), event.charge.end(),
                                       [](float charge) { return std::isfinite(charge); });
  COSMIC_REQUIRE(DataError, sound_image,
                 "event " << event.entry << " (run " << event.id.run << ", subrun "
                          << event.id.subrun << ", event " << event.id.event
                          << ") has charges below -1, of which data.img_transform takes the "
                             "logarithm (nothing can be said about such an event); check the file "
                             "with `cosmictagger data check`");
  const std::span<const float> scores = event.logits[plane];
  const auto lost =
      std::find_if(scores.begin(), scores.end(), [](float score) { return !std::isfinite(score); });
  const auto at = static_cast<std::size_t>(lost - scores.begin()) % shape_.plane_pixels();
  const auto columns = static_cast<std::size_t>(shape_.columns);
  COSMIC_REQUIRE(DataError, lost == scores.end(),
                 "event " << event.entry << " (run " << event.id.run << ", subrun "
                          << event.id.subrun << ", event " << event.id.event << ") has the score "
                          << *lost << " on plane " << plane << ", row " << at / columns
                          << ", column " << at % columns
                          << " (classes and probabilities would mean nothing, so none are "
                             "written); the weights of "
                          << weights_.string() << ", step " << step_
                          << ", are probably not usable: look at them with `cosmictagger "
                             "checkpoint show`, or take an earlier checkpoint with "
                             "mode.weights_location");
}

void Tagger::tag(const data::Batch& batch, const std::function<void(const TaggedEvent&)>& visit) {
  run(batch);
  visit_events(batch, visit);
}

void Tagger::run(const data::Batch& batch) {
  submit(batch);
  wait();
}

void Tagger::submit(const data::Batch& batch) {
  if (batch.form() == data::BatchForm::images) {
    model_->submit(batch.images);
  } else {
    submitted_ = run::sparse_batch(batch);
    model_->submit(std::span(&submitted_, 1));
  }
  in_flight_ = true;
}

void Tagger::stage(const data::Batch& next) {
  if (next.form() == data::BatchForm::images) {
    model_->stage(next.images);
    return;
  }
  staged_ = run::sparse_batch(next);
  model_->stage(std::span(&staged_, 1));
}

void Tagger::wait() {
  in_flight_ = false;  // even if it failed
  logits_ = model_->wait();
}

void Tagger::abandon() noexcept {
  if (in_flight_) {
    try {
      wait();
    } catch (const std::exception&) {  // who abandons it has another error to tell
    }
  }
}

void Tagger::visit_events(const data::Batch& batch,
                          const std::function<void(const TaggedEvent&)>& visit) {
  const std::size_t pixels = shape_.plane_pixels();
  const auto events = static_cast<std::size_t>(batch.events());
  const bool sparse = batch.form() == data::BatchForm::pixels;
  classes_.resize(kPlanes * pixels);
  if (sparse) {
    charge_.resize(kPlanes * pixels);
    labels_.resize(kPlanes * pixels);
  }
  for (std::size_t event = 0; event < static_cast<std::size_t>(batch.valid); ++event) {
    const SetPixels<float> charge(charge_, batch.image_pixels, event);
    const SetPixels<std::uint8_t> labels(labels_, batch.label_pixels, event);
    TaggedEvent tagged;
    tagged.entry = batch.entries[event];
    tagged.id = batch.ids[event];
    tagged.shape = shape_;
    tagged.temperature = temperature_;
    if (sparse) {
      tagged.charge = charge_;
      tagged.labels = labels_;
    } else {
      tagged.charge = batch.images.subspan(event * kPlanes * pixels, kPlanes * pixels);
      tagged.labels = batch.labels.subspan(event * kPlanes * pixels, kPlanes * pixels);
    }
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      // Logits are plane-major: all events of plane 0, then all of plane 1.
      tagged.logits[plane] =
          logits_.subspan((plane * events + event) * kClasses * pixels, kClasses * pixels);
      const bool finite = model::classify(tagged.logits[plane],
                                          std::span(classes_).subspan(plane * pixels, pixels));
      if (!finite) {
        refuse_scores(tagged, plane);
      }
    }
    tagged.classes = classes_;
    visit(tagged);
  }
}

}  // namespace cosmic::infer
