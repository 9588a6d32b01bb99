// Probabilities that mean what they say. A network that was trained to tag is mostly too sure of
// itself; dividing its scores by one number, the temperature, before they become probabilities
// mends that as far as one number can, and leaves every tag as it is (Guo et al.,
// arXiv:1706.04599).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "infer/event_scores.hpp"

namespace cosmic::infer {

struct TaggedEvent;

/// 1 if the notes of weights say nothing. Throws DataError for what is no temperature.
double temperature_of(const std::map<std::string, std::string>& notes);
std::string temperature_text(double temperature);

/// The temperature that makes the labels of some events most likely.
///
/// Over all pixels with charge, whatever their label: these are the pixels that probabilities are
/// written for, and background among them is as much a statement as the other two.
class TemperatureFit {
 public:
  /// An event with labels that was tagged.
  void add(const TaggedEvent& event);
  /// Scores of one pixel.
  void add(std::span<const float, kClasses> scores, std::size_t label);

  std::int64_t pixels() const { return static_cast<std::int64_t>(labels_.size()); }
  /// The mean negative logarithm of the probability of the label.
  double loss(double temperature) const;
  /// Distance between the probability of the most likely class and how often it is right, in 20
  /// equal bins of that probability, weighted by pixels: the expected calibration error.
  double calibration_error(double temperature) const;
  /// Throws DataError without pixels. The loss is convex in the inverse of the temperature, so
  /// there is one minimum; it is looked for between 1/20 and 20.
  double best() const;

 private:
  /// First and second derivative of the loss by the inverse temperature.
  struct Slope {
    double first = 0;
    double second = 0;
  };
  Slope slope(double inverse) const;

  std::vector<float> scores_;  ///< of each pixel, kClasses
  std::vector<std::uint8_t> labels_;
};

}  // namespace cosmic::infer
