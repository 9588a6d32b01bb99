#include "report/page/markup.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>

namespace cosmic::report::page {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view kThinSpace = "\xe2\x80\xaf";    // U+202F, where no line may break
constexpr std::string_view kDash = "\xe2\x80\x93";

/// Length of the UTF-8 sequence at the start of `text`; 0 if it is not valid.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  std::size_t length = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;  // smaller codes have shorter sequences
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc0 && lead < 0xe0) {
    length = 2;
    code = lead & 0x1fU;
    least = 0x80;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    length = 3;
    code = lead & 0x0fU;
    least = 0x800;
  } else if (lead >= 0xf0 && lead < 0xf8) {
    length = 4;
    code = lead & 0x07U;
    least = 0x10000;
  }
  if (length == 0 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) {
      return 0;
    }
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length != 1) {
      result += length == 0 ? kReplacement : text.substr(0, length);
      text.remove_prefix(length == 0 ? 1 : length);
      continue;
    }
    const char c = text.front();
    text.remove_prefix(1);
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += (c < ' ' && c != '\n') || c == '\x7f' ? ' ' : c;
    }
  }
  return result;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < left ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    result += kLetters[bits >> 18];
    result += kLetters[bits >> 12 & 63U];
    result += left > 1 ? kLetters[bits >> 6 & 63U] : '=';
    result += left > 2 ? kLetters[bits & 63U] : '=';
  }
  return result;
}

std::string percent_text(double share, int decimals) {
  return std::isnan(share) ? std::string(kDash)
                           : fmt::format("{:.{}f}{}%", 100 * share, decimals, kThinSpace);
}

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  // Four digits are read at a glance.
  constexpr std::size_t kUngrouped = 4;
  if (digits.size() <= kUngrouped) {
    return digits;
  }
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), kThinSpace);
  }
  return digits;
}

}  // namespace cosmic::report::page
