#include "checkpoint/printable.hpp"

#include <fmt/core.h>

namespace cosmic::checkpoint {

std::string escaped(std::string_view text) {
  constexpr char kFirstPrintable = ' ';
  constexpr char kLastPrintable = '~';
  std::string result;
  for (const char c : text) {
    if (c >= kFirstPrintable && c <= kLastPrintable) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxLength = 80;
  return "'" + escaped(text.substr(0, kMaxLength)) + (text.size() > kMaxLength ? "...'" : "'");
}

}  // namespace cosmic::checkpoint
