#include "picture/charge_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cosmic::picture {
namespace {

/// Share of the charges in an event that colours distinguish; the few beyond saturate.
constexpr double kShareInScale = 0.9995;

}  // namespace

double ChargeScale::share(double charge) const {
  return charge <= low ? 0 : std::log(charge / low) / std::log(high / low);
}

ChargeScale charge_scale(std::vector<float> charges) {
  std::erase_if(charges, [](float charge) { return !(charge > 0) || !std::isfinite(charge); });
  if (charges.empty()) {
    return {};
  }
  const auto last =
      static_cast<std::ptrdiff_t>(kShareInScale * static_cast<double>(charges.size() - 1));
  std::nth_element(charges.begin(), charges.begin() + last, charges.end());
  const double high = charges[static_cast<std::size_t>(last)];
  const double low = *std::min_element(charges.begin(), charges.end());
  constexpr double kLeastRange = 2;  // equal charges still need two ends
  return {low, std::max(high, kLeastRange * low)};
}

}  // namespace cosmic::picture
