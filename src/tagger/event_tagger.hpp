// Tags events that are in memory: weights are loaded and compiled once, then events go in as they
// are stored, and tags of every stored pixel come out.
//
//   EventTagger tagger(tagging_settings("weights.safetensors", {}).configuration, grid, log);
//   tagger.tag(events, [](std::size_t number, const TaggedEvent&, const StoredPixels& pixels) {});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "data/event.hpp"
#include "infer/input_profile.hpp"
#include "infer/tagger.hpp"
#include "output/run_log.hpp"

namespace cosmic::tagger {

/// Belongs to one thread at a time; its network computes on run.threads of them.
class EventTagger {
 public:
  /// Hears of each event, in their order, before the next is tagged: its number among those that
  /// were given, what the network said, and what that means for the pixels that it has stored.
  using Visit = std::function<void(std::size_t number, const infer::TaggedEvent& event,
                                   const infer::StoredPixels& pixels)>;

  /// Compiles the network for events on this grid, run.minibatch_size of them at a time, and loads
  /// the weights that the configuration names. Throws as infer::Tagger.
  EventTagger(const config::Configuration& configuration, const data::ImageMeta& grid,
              output::RunLog& log);

  /// Any number of events. Throws DataError for one that is not on the grid, has pixels outside of
  /// it or out of order, or scores that are not finite; what was visited before stays true.
  void tag(std::span<const data::SparseEvent> events, const Visit& visit);

  /// In what the latest thousand events differ from those that the weights know, with the figures
  /// of both (infer/input_profile.hpp): other units, another detector. Empty if in nothing, or if
  /// the weights do not say what they know.
  std::vector<std::string> oddities() const;

  const data::ImageMeta& grid() const { return grid_; }
  /// What the network sees of it.
  const data::DenseShape& shape() const { return converter_.shape(); }
  int threads() const { return threads_; }
  std::int64_t events_at_a_time() const { return events_at_a_time_; }
  /// Of everything that this holds and that grows with the size of events: programs, weights,
  /// images and scores. All of it is there when the constructor returns, or is taken once by the
  /// first call.
  std::int64_t memory_bytes() const;
  const infer::Tagger& network() const { return tagger_; }

 private:
  EventTagger(const config::Configuration& configuration, const std::string& target,
              const data::ImageMeta& grid, output::RunLog& log);

  void tag_batch(std::span<const data::SparseEvent> events, std::size_t first, const Visit& visit);
  void remember(const infer::TaggedEvent& event);

  data::ImageMeta grid_;
  int downsample_;
  int threads_;
  std::int64_t events_at_a_time_;
  data::DenseConverter converter_;
  infer::Tagger tagger_;
  std::vector<float> images_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::int64_t> entries_;
  std::vector<data::EventId> ids_;
  std::vector<infer::InputFigures> latest_;  ///< in a ring
  std::size_t oldest_ = 0;
};

}  // namespace cosmic::tagger
