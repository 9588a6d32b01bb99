// Which process keeps the others waiting. All processes need the same time for an update, because
// each waits for the others; what differs is how much of it they work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace cosmic::train {

class StragglerWatch {
 public:
  /// Updates that are looked at together: one of them may be slow for any reason.
  static constexpr int kUpdates = 20;
  /// How much more work than the others have makes a straggler.
  static constexpr double kFactor = 1.5;

  struct Straggler {
    int rank = 0;
    double factor = 1;  ///< times the median of all
  };

  /// Seconds that each process worked for an update. Names one that has become the straggler, once
  /// for as long as it is.
  std::optional<Straggler> add(const std::vector<double>& seconds) {
    sums_.resize(seconds.size(), 0);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      sums_[i] += seconds[i];
    }
    if (++updates_ < kUpdates) {
      return std::nullopt;
    }
    std::vector<double> sorted = sums_;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[(sorted.size() - 1) / 2];
    const auto slowest = std::max_element(sums_.begin(), sums_.end());
    const Straggler found{static_cast<int>(slowest - sums_.begin()),
                          median > 0 ? *slowest / median : 1};
    updates_ = 0;
    sums_.clear();
    if (found.factor < kFactor) {
      named_.reset();
      return std::nullopt;
    }
    const bool known = named_ == found.rank;
    named_ = found.rank;
    return known ? std::nullopt : std::optional(found);
  }

 private:
  std::vector<double> sums_;
  int updates_ = 0;
  std::optional<int> named_;
};

}  // namespace cosmic::train
