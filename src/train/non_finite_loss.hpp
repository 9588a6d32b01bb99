// The end of a run whose loss is no longer a number: which events it was computed from, and where
// the state before them is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "data/event.hpp"

namespace cosmic::train {

/// An event as a user finds it again.
struct BatchEvent {
  std::string file;        ///< or what the events were made by
  std::int64_t entry = 0;  ///< counted in the file
  data::EventId id;        ///< -1, -1, -1 where a file does not number its events
};

/// By file: "a.h5: events 3 (run 1, subrun 0, event 17), 4; b.h5: event 0".
std::string text_of(const std::vector<BatchEvent>& events);

/// The update that the loss belongs to was not made. What the message says, for programs.
struct NonFiniteLoss : DataError {
  NonFiniteLoss(std::int64_t step, double loss, std::vector<BatchEvent> events,
                std::filesystem::path checkpoint);

  std::int64_t step;  ///< updates before it
  double loss;
  std::vector<BatchEvent> events;    ///< of all batches of the update
  std::filesystem::path checkpoint;  ///< the state before it, ready to go on from
};

}  // namespace cosmic::train
