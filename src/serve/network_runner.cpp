#include "serve/network_runner.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/stopwatch.hpp"
#include "infer/softmax.hpp"
#include "infer/temperature.hpp"
#include "model/classify.hpp"
#include "run/run_choices.hpp"
#include "run/run_data.hpp"

namespace cosmic::serve {

NetworkRunner::NetworkRunner(const NetworkChoices& choices, const checkpoint::Checkpoint& weights,
                             int threads, int device)
    : network_(choices.configuration.network),
      sizes_(choices.batch_sizes),
      downsample_(run::dense_options(choices.configuration).downsample),
      converter_(choices.grid, run::dense_options(choices.configuration)),
      temperature_(infer::temperature_of(weights.run.notes)) {
  session::Options options = run::inference_options(choices.configuration, choices.target);
  options.threads = threads;
  options.device = device;
  for (const std::int64_t size : sizes_) {
    models_.emplace_back(network_, options, models_.empty() ? nullptr : models_.front().state());
    models_.back().compile(run::batch_types(size, converter_.shape()).image);
  }
  checkpoint::restore_weights(weights, *models_.front().state());
  const std::size_t pixels = converter_.shape().event_pixels();
  images_.resize(static_cast<std::size_t>(sizes_.back()) * pixels);
  no_labels_.resize(pixels);
  classes_.resize(pixels);
}

BatchTimes NetworkRunner::run(std::span<EventWork* const> events, std::span<const Wanted> wanted,
                              std::int64_t size) {
  const auto found = std::find(sizes_.begin(), sizes_.end(), size);
  COSMIC_ASSERT(found != sizes_.end() && static_cast<std::int64_t>(events.size()) <= size);
  session::InferenceModel& model = models_[static_cast<std::size_t>(found - sizes_.begin())];
  const std::size_t pixels = converter_.shape().event_pixels();
  const std::span<float> images = std::span(images_).first(static_cast<std::size_t>(size) * pixels);
  BatchTimes times;
  Stopwatch watch;
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::swap(event_.image, events[i]->image);
    try {
      converter_.convert(event_, {images.subspan(i * pixels, pixels), no_labels_});
    } catch (const DataError&) {
      // Whoever made the event has checked it, so this is not to be explained to the client.
      std::fill_n(images.begin() + static_cast<std::ptrdiff_t>(i * pixels), pixels, 0.0F);
      events[i]->refusal.emplace(Reason::invalid, "the pixels of the event are not on the grid");
    }
    std::swap(event_.image, events[i]->image);
  }
  std::fill(images.begin() + static_cast<std::ptrdiff_t>(events.size() * pixels), images.end(),
            0.0F);
  times.input = watch.seconds();
  watch.restart();
  const std::span<const float> logits = model(images);
  times.infer = watch.seconds();
  watch.restart();
  const std::size_t plane_logits = infer::kClasses * converter_.shape().plane_pixels();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i]->refusal) {
      continue;
    }
    std::array<std::span<const float>, infer::kPlanes> of_event;
    for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
      // Plane-major: all events of plane 0, then all of plane 1.
      of_event[plane] =
          logits.subspan((plane * static_cast<std::size_t>(size) + i) * plane_logits, plane_logits);
    }
    finish(*events[i], wanted[i], images.subspan(i * pixels, pixels), of_event);
  }
  times.output = watch.seconds();
  return times;
}

void NetworkRunner::finish(EventWork& work, const Wanted& wanted, std::span<const float> charge,
                           const std::array<std::span<const float>, infer::kPlanes>& logits) {
  const std::size_t pixels = converter_.shape().plane_pixels();
  for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
    if (!model::classify(logits[plane], std::span(classes_).subspan(plane * pixels, pixels))) {
      const bool sound = std::all_of(charge.begin(), charge.end(),
                                     [](float value) { return std::isfinite(value); });
      if (sound) {
        work.refusal.emplace(Reason::internal,
                             "the network's scores are not finite, so there is no answer");
      } else {
        work.refusal.emplace(Reason::invalid,
                             "the event has charges below -1, of which this network takes the "
                             "logarithm, so nothing can be said about it");
      }
      return;
    }
  }
  if (wanted.pixels) {
    infer::TaggedEvent tagged;
    tagged.shape = converter_.shape();
    tagged.charge = charge;
    tagged.classes = classes_;
    tagged.logits = logits;
    tagged.temperature = temperature_;
    work.pixels = tagged.at_pixels_of(work.image, downsample_);
  }
  if (wanted.tag) {
    work.tag = classes_;
  }
  const auto dense = [&](data::Label which, std::vector<float>& result) {
    result.resize(infer::kPlanes * pixels);
    for (std::size_t plane = 0; plane < infer::kPlanes; ++plane) {
      for (std::size_t at = 0; at < pixels; ++at) {
        result[plane * pixels + at] = infer::softmax(logits[plane], pixels, at, which, temperature_);
      }
    }
  };
  if (wanted.cosmic) {
    dense(data::Label::cosmic, work.cosmic);
  }
  if (wanted.neutrino) {
    dense(data::Label::neutrino, work.neutrino);
  }
  if (wanted.logits) {
    for (const std::span<const float> plane : logits) {
      work.logits.insert(work.logits.end(), plane.begin(), plane.end());
    }
  }
}

}  // namespace cosmic::serve
