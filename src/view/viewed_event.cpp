#include "view/viewed_event.hpp"

#include <limits>

namespace cosmic::view {
namespace {

using data::Label;

/// Of the pixels of one class.
struct Overlap {
  std::int64_t both = 0;
  std::int64_t true_only = 0;
  std::int64_t tagged_only = 0;

  void count(bool is_true, bool is_tagged) {
    both += is_true && is_tagged ? 1 : 0;
    true_only += is_true && !is_tagged ? 1 : 0;
    tagged_only += !is_true && is_tagged ? 1 : 0;
  }
  double iou() const {
    const std::int64_t together = both + true_only + tagged_only;
    return together == 0 ? 1 : static_cast<double>(both) / static_cast<double>(together);
  }
};

TagSummary summary_of(const EventScores& scores, const data::SparseEvent& pixels) {
  Overlap cosmic;
  Overlap neutrino;
  for (std::size_t plane = 0; plane < scores.size(); ++plane) {
    for (std::size_t i = 0; i < scores[plane].tag.size(); ++i) {
      const auto truth =
          pixels.labelled ? static_cast<Label>(pixels.labels[plane].values[i]) : Label::background;
      const auto tag = static_cast<Label>(scores[plane].tag[i]);
      cosmic.count(truth == Label::cosmic, tag == Label::cosmic);
      neutrino.count(truth == Label::neutrino, tag == Label::neutrino);
    }
  }
  TagSummary summary;
  summary.tagged = neutrino.both + neutrino.tagged_only;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (pixels.labelled) {
    summary.missed = neutrino.true_only;
    summary.wrong = neutrino.tagged_only;
  }
  summary.neutrino_iou = pixels.labelled ? neutrino.iou() : kUnknown;
  summary.cosmic_iou = pixels.labelled ? cosmic.iou() : kUnknown;
  return summary;
}

}  // namespace

EventSummary summary_of(const ViewedEvent& event) {
  EventSummary summary;
  summary.id = event.pixels.id;
  summary.truth = event.neutrino;
  for (const data::SparsePlane& plane : event.pixels.image) {
    summary.pixels += static_cast<std::int64_t>(plane.ids.size());
  }
  for (const data::SparsePlane& plane : event.pixels.labels) {
    for (const float label : plane.values) {
      summary.cosmic += static_cast<Label>(label) == Label::cosmic ? 1 : 0;
      summary.neutrino += static_cast<Label>(label) == Label::neutrino ? 1 : 0;
    }
  }
  for (const EventScores& scores : event.networks) {
    summary.networks.push_back(summary_of(scores, event.pixels));
  }
  return summary;
}

}  // namespace cosmic::view
