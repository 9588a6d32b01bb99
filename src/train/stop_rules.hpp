// When a run ends before its last step: on request, at the time limit, or because validation has
// not become better for too long.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/stopwatch.hpp"

namespace cosmic::train {

/// Is there time for another iteration and a checkpoint? The longest of each seen so far decides.
class TimeLimit {
 public:
  /// 0 for none. Time runs from here.
  explicit TimeLimit(double seconds) : limit_(seconds) {}

  void iteration_took(double seconds) {
    longest_iteration_ = std::max(longest_iteration_, seconds);
  }
  void checkpoint_took(double seconds) {
    longest_checkpoint_ = std::max(longest_checkpoint_, seconds);
  }
  bool reached() const {
    return limit_ > 0 && watch_.seconds() + longest_iteration_ + longest_checkpoint_ >= limit_;
  }

 private:
  double limit_;
  double longest_iteration_ = 0;
  double longest_checkpoint_ = 0;
  Stopwatch watch_;
};

/// Remembers the best validation loss, over restarts too.
class BestValidation {
 public:
  /// Returns whether it is the best so far. What is not a number never is.
  bool add(double loss) {
    if (loss < best_) {
      best_ = loss;
      since_ = 0;
      return true;
    }
    ++since_;
    return false;
  }
  std::int64_t validations_since_best() const { return since_; }

  std::string to_text() const;
  /// Throws DataError for a text that to_text does not write.
  static BestValidation from_text(const std::string& text);

 private:
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t since_ = 0;
};

}  // namespace cosmic::train
