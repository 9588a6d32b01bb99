#include "report/page/quantity_text.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace cosmic::report::page {
namespace {

constexpr std::string_view kUnitSpace = "\xe2\x80\xaf";  // U+202F, where no line may break

/// Three digits, without an exponent.
std::string digits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 || value == 0 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  constexpr double kNextPrefix = 999.5;  // would be written with four digits
  std::size_t prefix = 0;
  while (std::abs(value) >= kNextPrefix && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{}{}{}{}", digits(value), kUnitSpace, kPrefixes[prefix], unit);
}

std::string seconds_text(double seconds) {
  constexpr double kMinute = 60;
  if (seconds >= 10 * kMinute) {
    return fmt::format("{}{}min", digits(seconds / kMinute), kUnitSpace);
  }
  constexpr std::array<std::string_view, 3> kPrefixes{"", "m", "\xc2\xb5"};
  constexpr double kNextPrefix = 0.9995;  // is written as 1
  std::size_t prefix = 0;
  while (seconds < kNextPrefix && prefix + 1 < kPrefixes.size()) {
    seconds *= 1000;
    ++prefix;
  }
  return fmt::format("{}{}{}s", digits(seconds), kUnitSpace, kPrefixes[prefix]);
}

}  // namespace cosmic::report::page
