#include "core/utc_time.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace cosmic {
namespace {

/// SOURCE_DATE_EPOCH, if it is a number of seconds: who compares files byte by byte sets it.
std::time_t now_or_as_told() {
  if (const char* const told = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text = told;
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error == std::errc() && end == text.data() + text.size()) {
      return static_cast<std::time_t>(seconds);
    }
  }
  return std::time(nullptr);
}

}  // namespace

std::string utc_now() {
  const std::time_t now = now_or_as_told();
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

}  // namespace cosmic
