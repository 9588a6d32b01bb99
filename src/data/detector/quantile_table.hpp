// Random numbers of any distribution for the price of a lookup: its quantiles at equal steps, with
// straight lines between them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <utility>

#include "core/random.hpp"

namespace cosmic::data::detector {

class QuantileTable {
 public:
  /// The value that a share of the distribution, in (0, 1), is below.
  using Quantile = std::function<double(double share)>;

  explicit QuantileTable(Quantile quantile) : quantile_(std::move(quantile)) {
    for (std::size_t i = 1; i < kSteps; ++i) {
      values_[i] = quantile_(static_cast<double>(i) / kSteps);
    }
  }

  double draw(RandomStream& random) const {
    // The middles of 2^52 equal parts: neither 0 nor 1, whose quantiles may be infinite.
    const double share = (static_cast<double>(random.next() >> 12) + 0.5) * 0x1p-52;
    const double scaled = share * kSteps;
    const auto step = static_cast<std::size_t>(scaled);
    if (step == 0 || step == kSteps - 1) {
      return quantile_(share);  // tails are not straight lines
    }
    return values_[step] +
           (scaled - static_cast<double>(step)) * (values_[step + 1] - values_[step]);
  }

 private:
  static constexpr std::size_t kSteps = 1024;

  Quantile quantile_;
  std::array<double, kSteps> values_{};
};

}  // namespace cosmic::data::detector
