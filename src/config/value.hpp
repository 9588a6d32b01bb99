// What a setting can hold, and how it is written. A key of the schema says which of these it takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace cosmic::config {

/// A choice is held by its word, a duration by its seconds.
using Value = std::variant<bool, std::int64_t, double, std::string>;

enum class ValueKind { boolean, integer, real, text, choice, duration };

/// "True", "500", "0.0003", "a21": as the reference prints it, and as it can be read back.
std::string to_text(const Value& value);

/// A time in seconds that reads 90, 90s, 1.5h, 2h30m or 02:30:00.
struct Duration {
  double seconds = 0;

  bool operator==(const Duration&) const = default;
};

/// Negative for a text that is not a duration.
double parse_duration(std::string_view text);

}  // namespace cosmic::config
