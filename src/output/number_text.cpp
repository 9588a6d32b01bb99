#include "output/number_text.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace cosmic::output {
namespace {

// Smaller numbers than 1e-4 have an exponent, as in C.
constexpr int kLeastExponentWrittenOut = -4;

std::string without_trailing_zeros(std::string digits) {
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') {
      digits.pop_back();
    }
  }
  return digits;
}

}  // namespace

std::string significant_digits(double value, int digits) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  // Rounding may carry into the next power of ten, so the exponent is read off the rounded number.
  const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = scientific.find('e');
  const char* begin = scientific.data() + e + 1;
  begin += *begin == '+' ? 1 : 0;
  int exponent = 0;
  std::from_chars(begin, scientific.data() + scientific.size(), exponent);
  if (exponent < kLeastExponentWrittenOut || exponent >= digits - 1) {
    return without_trailing_zeros(scientific.substr(0, e)) + scientific.substr(e);
  }
  const std::string plain =
      without_trailing_zeros(fmt::format("{:.{}f}", value, digits - 1 - exponent));
  return plain.find('.') == std::string::npos ? plain + ".0" : plain;
}

std::string fixed_point(double value, int decimals) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}f}", value, decimals);
}

}  // namespace cosmic::output
