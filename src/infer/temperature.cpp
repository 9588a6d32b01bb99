#include "infer/temperature.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "checkpoint/checkpoint_file.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "infer/tagger.hpp"

namespace cosmic::infer {
namespace {

constexpr double kLeast = 0.05;
constexpr double kMost = 20;

/// Probabilities of the classes.
std::array<double, kClasses> probabilities(std::span<const float> scores, double inverse) {
  const double most = *std::max_element(scores.begin(), scores.end());
  std::array<double, kClasses> result{};
  double sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    result[c] = std::exp(inverse * (static_cast<double>(scores[c]) - most));
    sum += result[c];
  }
  for (double& one : result) {
    one /= sum;
  }
  return result;
}

}  // namespace

double temperature_of(const std::map<std::string, std::string>& notes) {
  const auto note = notes.find(checkpoint::kTemperatureNote);
  if (note == notes.end()) {
    return 1;
  }
  const std::string& text = note->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  COSMIC_REQUIRE(
      DataError,
      error == std::errc() && end == text.data() + text.size() && value >= kLeast && value <= kMost,
      "the weights have the temperature "
          << printable(text) << " (it divides scores, and is a number from " << kLeast << " to "
          << kMost << "); publish them again with `cosmictagger checkpoint publish`");
  return value;
}

std::string temperature_text(double temperature) {
  return fmt::format("{}", temperature);
}

void TemperatureFit::add(std::span<const float, kClasses> scores, std::size_t label) {
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  labels_.push_back(static_cast<std::uint8_t>(label));
}

void TemperatureFit::add(const TaggedEvent& event) {
  const std::size_t pixels = event.shape.plane_pixels();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    for (std::size_t at = 0; at < pixels; ++at) {
      if (event.charge[plane * pixels + at] == 0) {
        continue;
      }
      const std::span<const float> scores = event.logits[plane];
      const std::array<float, kClasses> of_pixel{scores[at], scores[pixels + at],
                                                 scores[2 * pixels + at]};
      add(of_pixel, event.labels[plane * pixels + at]);
    }
  }
}

double TemperatureFit::loss(double temperature) const {
  double sum = 0;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const std::span<const float> scores = std::span(scores_).subspan(i * kClasses, kClasses);
    // A probability of 0 in double precision would make the sum infinite.
    constexpr double kSmallest = 1e-300;
    sum -= std::log(std::max(probabilities(scores, 1 / temperature)[labels_[i]], kSmallest));
  }
  return sum / static_cast<double>(labels_.size());
}

double TemperatureFit::calibration_error(double temperature) const {
  constexpr std::size_t kBins = 20;
  std::array<double, kBins> surplus{};  // of probability over being right
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto probability =
        probabilities(std::span(scores_).subspan(i * kClasses, kClasses), 1 / temperature);
    const auto likely = std::max_element(probability.begin(), probability.end());
    const bool right = likely - probability.begin() == labels_[i];
    const auto bin = std::min(static_cast<std::size_t>(*likely * kBins), kBins - 1);
    surplus[bin] += *likely - (right ? 1 : 0);
  }
  double sum = 0;
  for (const double one : surplus) {
    sum += std::abs(one);
  }
  return sum / static_cast<double>(labels_.size());
}

TemperatureFit::Slope TemperatureFit::slope(double inverse) const {
  Slope result;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const std::span<const float> scores = std::span(scores_).subspan(i * kClasses, kClasses);
    const std::array<double, kClasses> probability = probabilities(scores, inverse);
    double mean = 0;
    double square = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      mean += probability[c] * scores[c];
      square += probability[c] * scores[c] * scores[c];
    }
    result.first += mean - scores[labels_[i]];
    result.second += square - mean * mean;
  }
  return result;
}

double TemperatureFit::best() const {
  COSMIC_REQUIRE(DataError, !labels_.empty(),
                 "no pixel has charge (a temperature is fitted to labelled pixels); calibrate on a "
                 "file that has events");
  // Newton's steps, kept between bounds that close in on the minimum.
  double low = 1 / kMost;
  double high = 1 / kLeast;
  double inverse = 1;
  constexpr int kMostSteps = 60;
  constexpr double kEnough = 1e-6;
  for (int step = 0; step < kMostSteps && high - low > kEnough * inverse; ++step) {
    const Slope here = slope(inverse);
    (here.first > 0 ? high : low) = inverse;
    const double newton = here.second > 0 ? inverse - here.first / here.second : 0;
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    const bool settled = std::abs(next - inverse) < kEnough * inverse;
    inverse = next;
    if (settled) {
      break;
    }
  }
  return 1 / inverse;
}

}  // namespace cosmic::infer
