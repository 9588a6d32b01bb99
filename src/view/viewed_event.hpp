// An event as the display shows it: its pixels, what is true of them, and what networks say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/event.hpp"
#include "report/evaluation/event_result.hpp"

namespace cosmic::view {

/// A pixel that a network says nothing about has this tag, and NaN for its scores.
inline constexpr std::uint8_t kNoTag = 255;

/// What a network says about the stored pixels of one plane, in their order.
struct PlaneScores {
  std::vector<std::uint8_t> tag;  ///< a Label
  std::vector<float> cosmic;      ///< probabilities
  std::vector<float> neutrino;
};

using EventScores = std::array<PlaneScores, static_cast<std::size_t>(data::kPlanes)>;

struct ViewedEvent {
  std::int64_t entry = 0;  ///< counted over all files
  std::string file;
  std::int64_t entry_in_file = 0;
  data::SparseEvent pixels;
  std::optional<report::evaluation::TrueNeutrino> neutrino;
  std::vector<EventScores> networks;
};

/// What the list of events says about one network's tags.
struct TagSummary {
  std::int64_t tagged = 0;  ///< pixels tagged as neutrino
  std::int64_t missed = 0;  ///< of those that are neutrino, tagged as something else
  std::int64_t wrong = 0;   ///< tagged as neutrino, but something else
  double neutrino_iou = 0;  ///< NaN without labels
  double cosmic_iou = 0;
};

/// What the list of events says about one.
struct EventSummary {
  data::EventId id;
  std::int64_t pixels = 0;
  std::int64_t cosmic = 0;    ///< true ones
  std::int64_t neutrino = 0;  ///< true ones
  std::optional<report::evaluation::TrueNeutrino> truth;
  std::vector<TagSummary> networks;
};

/// The stored pixels of the three planes count together; where both sets are empty, IoU is 1.
EventSummary summary_of(const ViewedEvent& event);

}  // namespace cosmic::view
