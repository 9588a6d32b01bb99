#include "tagger/event_tagger.hpp"

#include <algorithm>

#include "model/enum_text.hpp"
#include "run/processes.hpp"
#include "run/run_data.hpp"
#include "target/registry.hpp"

namespace cosmic::tagger {
namespace {

constexpr std::size_t kRemembered = 1000;

}  // namespace

EventTagger::EventTagger(const config::Configuration& configuration, const data::ImageMeta& grid,
                         output::RunLog& log)
    : EventTagger(configuration,
                  target::target_of_compute_mode(model::to_string(configuration.run.compute_mode)),
                  grid, log) {}

EventTagger::EventTagger(const config::Configuration& configuration, const std::string& target,
                         const data::ImageMeta& grid, output::RunLog& log)
    : grid_(grid),
      downsample_(run::dense_options(configuration).downsample),
      threads_(run::Processes().threads(configuration.run.threads)),
      events_at_a_time_(configuration.run.minibatch_size),
      converter_(grid, run::dense_options(configuration)),
      tagger_(run::with_own_part(configuration, target, run::Processes()), target,
              converter_.shape(), log),
      images_(static_cast<std::size_t>(events_at_a_time_) * shape().event_pixels()),
      labels_(images_.size()),
      entries_(static_cast<std::size_t>(events_at_a_time_)),
      ids_(entries_.size()) {
  latest_.reserve(kRemembered);
}

void EventTagger::tag(std::span<const data::SparseEvent> events, const Visit& visit) {
  for (std::size_t first = 0; first < events.size(); first += entries_.size()) {
    tag_batch(events.subspan(first, std::min(entries_.size(), events.size() - first)), first,
              visit);
  }
}

void EventTagger::tag_batch(std::span<const data::SparseEvent> events, std::size_t first,
                            const Visit& visit) {
  const std::size_t pixels = shape().event_pixels();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const data::DenseImage image{std::span(images_).subspan(i * pixels, pixels),
                                 std::span(labels_).subspan(i * pixels, pixels)};
    if (i < events.size()) {
      converter_.convert(events[i], image);
      entries_[i] = static_cast<std::int64_t>(first + i);
      ids_[i] = events[i].id;
    } else {
      image.clear();
    }
  }
  const data::Batch batch{.images = images_,
                          .labels = labels_,
                          .entries = entries_,
                          .ids = ids_,
                          .valid = static_cast<std::int64_t>(events.size())};
  tagger_.tag(batch, [&](const infer::TaggedEvent& event) {
    const auto number = static_cast<std::size_t>(event.entry);
    remember(event);
    visit(number, event, event.at_pixels_of(events[number - first].image, downsample_));
  });
}

void EventTagger::remember(const infer::TaggedEvent& event) {
  if (!tagger_.known_inputs()) {
    return;
  }
  const infer::InputFigures figures = infer::input_figures(event);
  if (latest_.size() < kRemembered) {
    latest_.push_back(figures);
  } else {
    latest_[oldest_] = figures;
    oldest_ = (oldest_ + 1) % kRemembered;
  }
}

std::vector<std::string> EventTagger::oddities() const {
  return latest_.empty() ? std::vector<std::string>()
                         : infer::oddities(*tagger_.known_inputs(), shape(), latest_);
}

std::int64_t EventTagger::memory_bytes() const {
  const auto image_bytes = static_cast<std::int64_t>(images_.size() * sizeof(float));
  // The scores of each class are as large as the images; the classes of one event are kept too.
  const auto scores_bytes = image_bytes * static_cast<std::int64_t>(infer::kClasses);
  return tagger_.report().memory_bytes + image_bytes + static_cast<std::int64_t>(labels_.size()) +
         scores_bytes + static_cast<std::int64_t>(shape().event_pixels());
}

}  // namespace cosmic::tagger
