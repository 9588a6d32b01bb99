// What a setting can hold, and how it is written. A key of the schema says which of these it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cosmic::config {

/// A choice is held by its word, a duration by its seconds.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

enum class ValueKind { boolean, integer, real, text, texts, choice, duration };

/// "True", "500", "0.0003", "a21", "[a.h5,b.h5]": as the reference prints it, and as it can be read
/// back. A list of one text is that text.
std::string to_text(const Value& value);

/// One text, several with commas between them, or Hydra's [a,b]. Spaces around a comma do not
/// count; quotes keep commas and spaces in a text. Nothing for what is not a list.
std::optional<std::vector<std::string>> parse_list(std::string_view text);

/// A text in double quotes that parse_list, and YAML, read back.
std::string in_quotes(std::string_view text);

/// A time in seconds that reads 90, 90s, 1.5h, 2h30m or 02:30:00.
struct Duration {
  double seconds = 0;

  bool operator==(const Duration&) const = default;
};

/// Negative for a text that is not a duration.
double parse_duration(std::string_view text);

}  // namespace cosmic::config
