#include "core/printable.hpp"

#include <cstddef>

namespace cosmic {
namespace {

constexpr std::size_t kLongestShown = 80;

bool is_plain(char letter) {
  return letter >= ' ' && letter <= '~';
}

std::string as_hex(char letter) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(letter);
  return {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    result += is_plain(letter) ? std::string(1, letter) : as_hex(letter);
  }
  return result;
}

std::string printable(std::string_view text) {
  return "'" + escaped(text.substr(0, kLongestShown)) +
         (text.size() > kLongestShown ? "...'" : "'");
}

}  // namespace cosmic
