#include "config/utf8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace cosmic::config {

bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(i);
    const std::size_t length = first < 0x80             ? 1
                               : (first & 0xe0) == 0xc0 ? 2
                               : (first & 0xf0) == 0xe0 ? 3
                               : (first & 0xf8) == 0xf0 ? 4
                                                        : 0;
    if (length == 0 || i + length > text.size()) {
      return false;
    }
    std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) {
        return false;
      }
      code = code << 6 | (byte(i + k) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> kLeastCode{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < kLeastCode[length] || code > 0x10ffff || surrogate) {
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace cosmic::config
