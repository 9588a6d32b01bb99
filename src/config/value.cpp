#include "config/value.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace cosmic::config {
namespace {

/// With a point or an exponent, so that it still reads as a real number.
std::string real_to_text(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// A number at the start of the text, which is then taken away.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

constexpr double kNoDuration = -1;
constexpr double kSecondsOfMinute = 60;
constexpr double kSecondsOfHour = 3600;
constexpr double kSecondsOfDay = 86400;

double seconds_of(char unit) {
  switch (unit) {
    case 'd':
      return kSecondsOfDay;
    case 'h':
      return kSecondsOfHour;
    case 'm':
      return kSecondsOfMinute;
    case 's':
      return 1;
    default:
      return kNoDuration;
  }
}

/// hours:minutes:seconds, or hours:minutes as batch systems have it.
double parse_clock(std::string_view text) {
  constexpr std::array<double, 3> kUnits{kSecondsOfHour, kSecondsOfMinute, 1};
  double seconds = 0;
  for (std::size_t place = 0; place < kUnits.size(); ++place) {
    const std::optional<double> number = take_number(text);
    if (!number || (place > 0 && *number >= kSecondsOfMinute)) {
      return kNoDuration;
    }
    seconds += *number * kUnits[place];
    if (text.empty()) {
      return place > 0 ? seconds : kNoDuration;
    }
    if (text.front() != ':') {
      return kNoDuration;
    }
    text.remove_prefix(1);
  }
  return kNoDuration;
}

}  // namespace

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(bool truth) const { return truth ? "True" : "False"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return real_to_text(number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer(), value);
}

double parse_duration(std::string_view text) {
  if (text.find(':') != std::string_view::npos) {
    return parse_clock(text);
  }
  double seconds = 0;
  double last_unit = 2 * kSecondsOfDay;
  if (text.empty()) {
    return kNoDuration;
  }
  while (!text.empty()) {
    const std::optional<double> number = take_number(text);
    if (!number) {
      return kNoDuration;
    }
    const double unit = text.empty() ? 1 : seconds_of(text.front());
    if (unit < 0 || unit >= last_unit) {
      return kNoDuration;  // 30m2h is more likely a mistake than two and a half hours
    }
    seconds += *number * unit;
    last_unit = unit;
    text.remove_prefix(text.empty() ? 0 : 1);
  }
  return std::isfinite(seconds) ? seconds : kNoDuration;
}

}  // namespace cosmic::config
