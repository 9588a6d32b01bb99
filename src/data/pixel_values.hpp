// What the stored values of pixels mean to a network, whatever form its images have.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "data/event.hpp"

namespace cosmic::data {

/// `logarithmic` is ln(charge + 1), which brings the long tail of the charge nearer.
enum class ChargeScale { linear, logarithmic };

/// ln(x + 1) in float32 and in this order, as the reference computes it.
inline float on_scale(float charge, ChargeScale scale) {
  return scale == ChargeScale::logarithmic ? std::log(charge + 1.0F) : charge;
}

/// Apart from label_of, so that the pixels that are fine pay for none of it.
[[noreturn]] void refuse_label(float value, std::size_t plane);

/// Throws DataError unless the value is one of a Label.
inline std::uint8_t label_of(float value, std::size_t plane) {
  constexpr auto kHighestLabel = static_cast<float>(Label::neutrino);
  if (!(value >= 0 && value <= kHighestLabel)) {
    refuse_label(value, plane);
  }
  const auto label = static_cast<std::uint8_t>(value);
  if (static_cast<float>(label) != value) {
    refuse_label(value, plane);
  }
  return label;
}

}  // namespace cosmic::data
