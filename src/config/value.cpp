#include "config/value.hpp"

#include <fmt/core.h>

#include <algorithm>
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

constexpr std::string_view kSpaces = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

/// Takes the texts of a list, one after the other.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : rest_(text) {}

  std::optional<std::vector<std::string>> read() {
    std::vector<std::string> texts;
    while (true) {
      skip_spaces();
      std::optional<std::string> text = starts_quoted() ? take_quoted() : take_plain();
      if (!text || text->empty()) {
        return std::nullopt;
      }
      texts.push_back(std::move(*text));
      skip_spaces();
      if (rest_.empty()) {
        return texts;
      }
      if (rest_.front() != ',') {
        return std::nullopt;
      }
      rest_.remove_prefix(1);
    }
  }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
  }
  bool starts_quoted() const {
    return !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\'');
  }

  std::optional<std::string> take_plain() {
    const std::size_t end = std::min(rest_.find(','), rest_.size());
    const std::string_view text = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return std::string(text);
  }

  std::optional<std::string> take_quoted() {
    const char quote = rest_.front();
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size() &&
          (rest_[i + 1] == quote || rest_[i + 1] == '\\')) {
        ++i;
      }
      text += rest_[i];
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

/// One that says the same without quotes.
bool is_plain(std::string_view text) {
  return !text.empty() && trimmed(text) == text &&
         text.find_first_of(",\"'") == std::string_view::npos && text.front() != '[';
}

std::string list_to_text(const std::vector<std::string>& texts) {
  if (texts.empty() || (texts.size() == 1 && is_plain(texts.front()))) {
    return texts.empty() ? "" : texts.front();
  }
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ",") + (is_plain(text) ? text : in_quotes(text));
  }
  return "[" + all + "]";
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
    }
    result += letter;
  }
  return result + '"';
}

std::optional<std::vector<std::string>> parse_list(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) {
      return std::nullopt;
    }
    text = trimmed(text.substr(1, text.size() - 2));
  }
  return text.empty() ? std::vector<std::string>{} : ListReader(text).read();
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(bool truth) const { return truth ? "True" : "False"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return real_to_text(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& texts) const {
      return list_to_text(texts);
    }
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
