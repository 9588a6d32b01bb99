#include "picture/axis.hpp"

#include <fmt/core.h>

#include <cmath>

namespace cosmic::picture {
namespace {

// A tick at the very end of an axis must not be lost to rounding.
constexpr double kTolerance = 1e-9;

double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (step <= factor * power * (1 + kTolerance)) {
      return factor * power;
    }
  }
  return 10 * power;
}

}  // namespace

std::vector<double> linear_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(high > low) || !std::isfinite(high - low)) {
    return ticks;
  }
  const double step = round_step((high - low) / count);
  const double slack = kTolerance * step;
  for (double number = std::ceil((low - slack) / step); number * step <= high + slack; ++number) {
    ticks.push_back(number * step);
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high) {
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      if (tick >= low * (1 - kTolerance) && tick <= high * (1 + kTolerance)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

std::string tick_text(double value) {
  return fmt::format("{:.6g}", value == 0 ? 0.0 : value);  // no "-0"
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::ptrdiff_t first = value < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace cosmic::picture
