// From logits to classes: the largest of the three, the first where several are.
#pragma once

#include <cstdint>
#include <span>

namespace cosmic::model {

inline constexpr std::int64_t kClasses = 3;

/// `logits` is [3, pixels], `classes` [pixels]. Returns whether all logits are finite; without that
/// a class means nothing.
inline bool classify(std::span<const float> logits, std::span<std::uint8_t> classes) {
  const std::size_t pixels = classes.size();
  std::uint8_t lost = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    const float background = logits[i];
    const float cosmic = logits[pixels + i];
    const float neutrino = logits[2 * pixels + i];
    const bool not_background = cosmic > background;
    const float first = not_background ? cosmic : background;
    classes[i] = neutrino > first ? 2 : (not_background ? 1 : 0);
    // A finite number minus itself is 0; of infinity and NaN it is NaN. No branch, so that the loop
    // stays one over vectors.
    const float zero = (background - background) + (cosmic - cosmic) + (neutrino - neutrino);
    lost |= static_cast<std::uint8_t>(zero != 0.0F);
  }
  return lost == 0;
}

}  // namespace cosmic::model
