// How many events a second a modelled machine would take, with its error bar: for whoever shows a
// run while it computes on another machine.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/prediction.hpp"

namespace cosmic::machine {

struct EventRate {
  double best = 0;
  double low = 0;
  double high = 0;
};

/// Of a program that takes `events` at a time; nothing where nothing is modelled.
inline std::optional<EventRate> event_rate(const std::optional<Prediction>& prediction,
                                           std::int64_t events) {
  if (!prediction) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(events);
  const auto rate = [&](ModelledTime time) { return count / time.modelled_seconds(); };
  return EventRate{rate(prediction->step.best), rate(prediction->step.high),
                   rate(prediction->step.low)};
}

}  // namespace cosmic::machine
