// The error bar of a prediction: each unknown alone at the ends of its range, and how far the
// family's formulas have been off; independent of each other, so their squares add up.
#pragma once

#include <algorithm>
#include <cmath>

namespace cosmic::machine {

class ErrorBar {
 public:
  explicit ErrorBar(double best) : best_(best) {}

  void add(double one_end, double other_end) {
    const double least = std::min({one_end, best_, other_end});
    const double most = std::max({one_end, best_, other_end});
    below_ += (best_ - least) * (best_ - least);
    above_ += (most - best_) * (most - best_);
  }

  double best() const { return best_; }
  double low() const { return std::max(0.0, best_ - std::sqrt(below_)); }
  double high() const { return best_ + std::sqrt(above_); }

 private:
  double best_;
  double below_ = 0;
  double above_ = 0;
};

}  // namespace cosmic::machine
