// From logits to the probability of a class, as every command writes it.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "data/event.hpp"
#include "infer/event_scores.hpp"

namespace cosmic::infer {

/// The probability of a class at one of `pixels` places; logits are [3 classes, pixels]. The
/// temperature is that of the weights (temperature.hpp).
inline float softmax(std::span<const float> logits, std::size_t pixels, std::size_t at,
                     data::Label which, double temperature) {
  const float own = logits[static_cast<std::size_t>(which) * pixels + at];
  double sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    sum += std::exp((static_cast<double>(logits[c * pixels + at]) - own) / temperature);
  }
  return static_cast<float>(1 / sum);
}

}  // namespace cosmic::infer
