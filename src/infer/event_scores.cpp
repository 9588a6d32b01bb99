#include "infer/event_scores.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "model/segmentation_loss.hpp"

namespace cosmic::infer {
namespace {

constexpr std::size_t kBackground = 0;
constexpr std::size_t kCosmic = 1;
constexpr std::size_t kNeutrino = 2;

// The reference multiplies by this instead of dividing by three.
constexpr double kThird = 0.3333333;

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void Confusion::add(std::span<const std::uint8_t> truth, std::span<const std::uint8_t> predicted) {
  COSMIC_ASSERT(truth.size() == predicted.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ++counts[truth[i]][predicted[i]];
  }
}

Confusion& Confusion::operator+=(const Confusion& other) {
  for (std::size_t t = 0; t < kClasses; ++t) {
    for (std::size_t p = 0; p < kClasses; ++p) {
      counts[t][p] += other.counts[t][p];
    }
  }
  return *this;
}

std::int64_t Confusion::of_class(std::size_t truth) const {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts[truth]) {
    sum += count;
  }
  return sum;
}

std::int64_t Confusion::predicted_as(std::size_t predicted) const {
  std::int64_t sum = 0;
  for (const auto& row : counts) {
    sum += row[predicted];
  }
  return sum;
}

std::int64_t Confusion::pixels() const {
  return of_class(kBackground) + of_class(kCosmic) + of_class(kNeutrino);
}

double Confusion::accuracy() const {
  return ratio(counts[0][0] + counts[1][1] + counts[2][2], pixels());
}

double Confusion::accuracy_without_background() const {
  return ratio(counts[kCosmic][kCosmic] + counts[kNeutrino][kNeutrino],
               of_class(kCosmic) + of_class(kNeutrino));
}

double Confusion::iou(std::size_t which) const {
  const std::int64_t together = of_class(which) + predicted_as(which) - counts[which][which];
  return together == 0 ? 1 : ratio(counts[which][which], together);
}

double Confusion::efficiency(std::size_t which) const {
  return ratio(counts[which][which], of_class(which));
}

double Confusion::purity(std::size_t which) const {
  return ratio(counts[which][which], predicted_as(which));
}

void MeanScores::Mean::add(double value) {
  if (!std::isnan(value)) {
    sum += value;
    ++count;
  }
}

double MeanScores::Mean::value() const {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

void MeanScores::add(const EventConfusion& event) {
  for (std::size_t plane = 0; plane < kPlanes; ++plane) {
    const Confusion& confusion = event[plane];
    const double cosmic = confusion.iou(kCosmic);
    const double neutrino = confusion.iou(kNeutrino);
    const std::array<double, kScores> scores{confusion.accuracy(), cosmic, neutrino,
                                             confusion.accuracy_without_background(),
                                             0.5 * (cosmic + neutrino)};
    for (std::size_t i = 0; i < kScores; ++i) {
      means_[plane][i].add(scores[i]);
    }
  }
  ++events_;
}

output::Metrics MeanScores::metrics() const {
  std::array<double, kScores> averages{};
  std::vector<double> values;
  for (const auto& plane : means_) {
    for (std::size_t i = 0; i < kScores; ++i) {
      averages[i] += kThird * plane[i].value();
      values.push_back(plane[i].value());
    }
  }
  values.insert(values.begin(), averages.begin(), averages.end());
  const std::vector<std::string> names = model::score_names();
  COSMIC_ASSERT(names.size() == values.size());
  output::Metrics metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    metrics.push_back({names[i], values[i]});
  }
  return metrics;
}

}  // namespace cosmic::infer
