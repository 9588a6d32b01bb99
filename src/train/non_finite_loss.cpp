#include "train/non_finite_loss.hpp"

#include <algorithm>
#include <sstream>

namespace cosmic::train {
namespace {

std::string message_of(std::int64_t step, double loss, const std::vector<BatchEvent>& events,
                       const std::filesystem::path& checkpoint) {
  std::ostringstream text;
  text << "the loss of step " << step << " is " << loss << ", computed from " << text_of(events)
       << " (with it every weight would stop being a number, so the update was not made); the "
          "state before it is in "
       << checkpoint.string()
       << ": look at the events with `cosmictagger data show`, or start a run with "
          "mode.weights_location="
       << checkpoint.string() << " and a smaller mode.optimizer.learning_rate";
  return text.str();
}

}  // namespace

std::string text_of(const std::vector<BatchEvent>& events) {
  std::ostringstream text;
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if(
        first, events.end(), [&](const BatchEvent& event) { return event.file != first->file; });
    text << (first == events.begin() ? "" : "; ") << first->file << ": "
         << (last - first == 1 ? "event " : "events ");
    for (auto event = first; event != last; ++event) {
      text << (event == first ? "" : ", ") << event->entry;
      if (event->id != data::EventId{}) {
        text << " (run " << event->id.run << ", subrun " << event->id.subrun << ", event "
             << event->id.event << ")";
      }
    }
    first = last;
  }
  return text.str();
}

NonFiniteLoss::NonFiniteLoss(std::int64_t at_step, double not_a_number,
                             std::vector<BatchEvent> of_events, std::filesystem::path state_before)
    : DataError(message_of(at_step, not_a_number, of_events, state_before)),
      step(at_step),
      loss(not_a_number),
      events(std::move(of_events)),
      checkpoint(std::move(state_before)) {}

}  // namespace cosmic::train
