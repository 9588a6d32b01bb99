#include "report/evaluation/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cosmic::report::evaluation {
namespace {

std::int64_t count_above(const std::vector<double>& ascending, double threshold) {
  return ascending.end() - std::upper_bound(ascending.begin(), ascending.end(), threshold);
}

// Keeps everything, because scores are not negative.
constexpr double kBelowAll = -1;

}  // namespace

Selection::Selection(std::vector<double> neutrino, std::vector<double> cosmic_only)
    : neutrino_(std::move(neutrino)), cosmic_only_(std::move(cosmic_only)) {
  std::sort(neutrino_.begin(), neutrino_.end());
  std::sort(cosmic_only_.begin(), cosmic_only_.end());
}

Kept Selection::above(double threshold) const {
  return {threshold, count_above(neutrino_, threshold), count_above(cosmic_only_, threshold)};
}

std::vector<Kept> Selection::scan(int steps) const {
  std::vector<Kept> result;
  for (int step = 0; step <= steps; ++step) {
    result.push_back(above(static_cast<double>(step) / steps));
  }
  return result;
}

std::vector<Kept> Selection::all_cuts() const {
  std::vector<double> thresholds{kBelowAll};
  thresholds.insert(thresholds.end(), neutrino_.begin(), neutrino_.end());
  thresholds.insert(thresholds.end(), cosmic_only_.begin(), cosmic_only_.end());
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  std::vector<Kept> result;
  for (const double threshold : thresholds) {
    result.push_back(above(threshold));
  }
  return result;
}

std::optional<Kept> Selection::keeping(double neutrino_share) const {
  const auto needed =
      static_cast<std::int64_t>(std::ceil(neutrino_share * static_cast<double>(neutrino_.size())));
  if (needed <= 0 || needed > neutrino_events()) {
    return std::nullopt;
  }
  // The threshold has to be below the score of the last event that must stay.
  const double last = neutrino_[neutrino_.size() - static_cast<std::size_t>(needed)];
  if (last <= 0) {
    return std::nullopt;
  }
  double threshold = 0;
  for (const std::vector<double>* scores : {&neutrino_, &cosmic_only_}) {
    const auto not_below = std::lower_bound(scores->begin(), scores->end(), last);
    if (not_below != scores->begin()) {
      threshold = std::max(threshold, *(not_below - 1));
    }
  }
  return above(threshold);
}

Share Selection::neutrino_share(const Kept& kept) const {
  return wilson(static_cast<double>(kept.neutrino), static_cast<double>(neutrino_.size()));
}

Share Selection::cosmic_only_share(const Kept& kept) const {
  return wilson(static_cast<double>(kept.cosmic_only), static_cast<double>(cosmic_only_.size()));
}

double Selection::separation() const {
  if (neutrino_.empty() || cosmic_only_.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double pairs = 0;
  for (const double score : neutrino_) {
    const auto [equal, above] = std::equal_range(cosmic_only_.begin(), cosmic_only_.end(), score);
    // Equal scores count half: neither is the higher.
    pairs += static_cast<double>(equal - cosmic_only_.begin()) +
             0.5 * static_cast<double>(above - equal);
  }
  return pairs / (static_cast<double>(neutrino_.size()) * static_cast<double>(cosmic_only_.size()));
}

}  // namespace cosmic::report::evaluation
