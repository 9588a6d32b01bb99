#include "report/evaluation/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cosmic::report::evaluation {

Share wilson(double successes, double trials) {
  if (!(trials > 0)) {
    return {std::numeric_limits<double>::quiet_NaN(), 0, 1};
  }
  constexpr double kSquaredWidth = 1;  // of one standard deviation, as error bars are read
  const double share = successes / trials;
  const double pull = kSquaredWidth / trials;
  const double middle = (share + pull / 2) / (1 + pull);
  const double half =
      std::sqrt(kSquaredWidth * share * (1 - share) / trials + pull * pull / 4) / (1 + pull);
  // Rounding must not put an end inside of the value, where it is exactly 0 or 1.
  return {share, std::clamp(middle - half, 0.0, share), std::clamp(middle + half, share, 1.0)};
}

void PixelShare::add(std::int64_t part, std::int64_t whole) {
  if (whole == 0) {
    return;
  }
  const auto a = static_cast<double>(part);
  const auto n = static_cast<double>(whole);
  part_ += part;
  whole_ += whole;
  ++events_;
  part_squares_ += a * a;
  whole_squares_ += n * n;
  products_ += a * n;
}

Share PixelShare::share() const {
  const auto pixels = static_cast<double>(whole_);
  const auto events = static_cast<double>(events_);
  if (events_ == 0) {
    return wilson(0, 0);
  }
  const double value = static_cast<double>(part_) / pixels;
  double trials = events;
  if (events_ > 1) {
    // Variance of a ratio of sums: squares of what each event has beyond its expected part.
    const double squares = part_squares_ - 2 * value * products_ + value * value * whole_squares_;
    const double variance = events / (events - 1) * squares / (pixels * pixels);
    const double binomial = value * (1 - value);
    // Sums of squares leave a little where there is nothing.
    constexpr double kNothing = 1e-12;
    if (variance > kNothing && binomial > 0) {
      trials = std::clamp(binomial / variance, 1.0, pixels);
    }
  }
  return wilson(value * trials, trials);
}

}  // namespace cosmic::report::evaluation
