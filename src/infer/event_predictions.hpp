// What is kept of a tagged event: its predictions and how good they are. Much less than its scores,
// so processes that tag together send it to the one that writes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/event.hpp"
#include "data/larcv/predictions.hpp"
#include "infer/event_scores.hpp"
#include "infer/input_profile.hpp"
#include "infer/tagger.hpp"
#include "run/processes.hpp"

namespace cosmic::infer {

struct EventPredictions {
  std::int64_t entry = 0;
  data::EventId id;
  data::SparseImage cosmic;
  data::SparseImage neutrino;
  EventConfusion confusion;            ///< of an event with labels
  std::optional<StoredPixels> stored;  ///< if asked for
  InputFigures inputs = {};

  /// The most likely Label of the pixels that the network saw.
  data::SparseImage tags() const { return data::larcv::tags_of(cosmic, neutrino); }
};

enum class Labels { there, none };
EventPredictions predictions_of(const TaggedEvent& event, Labels labels);

/// The batches of all processes, in the order of ranks. The leader has all of their events, the
/// others their own: of theirs alone the numbers are known.
struct SharedBatch {
  std::vector<EventPredictions> events;
  std::int64_t count = 0;
};
std::vector<SharedBatch> shared(const run::Processes& processes, std::vector<EventPredictions> own);

}  // namespace cosmic::infer
