// How long the sums over processes took, update by update: on their way at all, and of that how
// long this process did nothing else. Medians, because a machine that is busy with something else
// for one update says nothing about the link.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace cosmic::train {

class ExchangeTimes {
 public:
  struct Update {
    double exchange_seconds = 0;
    double waiting_seconds = 0;
  };

  /// The sums so far, of all updates.
  void add_update(const Update& so_far) {
    updates_.push_back({so_far.exchange_seconds - before_.exchange_seconds,
                        so_far.waiting_seconds - before_.waiting_seconds});
    before_ = so_far;
    if (updates_.size() > kKept) {
      updates_.pop_front();
    }
  }
  /// What comes next is none of an update.
  void begin(const Update& so_far) { before_ = so_far; }

  Update median() const {
    return {median_of(&Update::exchange_seconds), median_of(&Update::waiting_seconds)};
  }

 private:
  static constexpr std::size_t kKept = 4000;  // a long run needs no more memory than a short one

  double median_of(double Update::*part) const {
    if (updates_.empty()) {
      return 0;
    }
    std::vector<double> values;
    for (const Update& update : updates_) {
      values.push_back(update.*part);
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  Update before_;
  std::deque<Update> updates_;
};

}  // namespace cosmic::train
