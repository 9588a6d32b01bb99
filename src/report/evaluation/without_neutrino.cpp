#include "report/evaluation/without_neutrino.hpp"

#include "report/evaluation/event_result.hpp"

namespace cosmic::report::evaluation {

void WithoutNeutrino::change(data::Batch& batch) {
  if (batch.form() == data::BatchForm::pixels) {
    change_pixels(batch);
    return;
  }
  images_.assign(batch.images.begin(), batch.images.end());
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (batch.labels[i] == kNeutrinoClass) {
      images_[i] = 0;
    }
  }
  batch.images = images_;
}

void WithoutNeutrino::change_pixels(data::Batch& batch) {
  const data::BatchPixels<float>& charge = batch.image_pixels;
  const data::BatchPixels<std::uint8_t>& label = batch.label_pixels;
  first_.assign(1, 0);
  places_.clear();
  images_.clear();
  for (std::size_t event = 0; event + 1 < charge.first.size(); ++event) {
    auto at = static_cast<std::size_t>(label.first[event]);
    const auto end = static_cast<std::size_t>(label.first[event + 1]);
    for (auto i = static_cast<std::size_t>(charge.first[event]);
         i < static_cast<std::size_t>(charge.first[event + 1]); ++i) {
      while (at < end && label.places[at] < charge.places[i]) {
        ++at;
      }
      const bool neutrino =
          at < end && label.places[at] == charge.places[i] && label.values[at] == kNeutrinoClass;
      if (!neutrino) {
        places_.push_back(charge.places[i]);
        images_.push_back(charge.values[i]);
      }
    }
    first_.push_back(static_cast<std::int64_t>(places_.size()));
  }
  batch.image_pixels = {first_, places_, images_};
  batch.pinned = false;
}

}  // namespace cosmic::report::evaluation
