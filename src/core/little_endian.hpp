// Integers as bytes, the lowest first, whatever the machine does: for file formats.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

namespace cosmic {

/// Appends as many bytes as the type has.
template <class Integer>
void append_little_endian(std::string& to, Integer value) {
  static_assert(std::is_integral_v<Integer>);
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    to += static_cast<char>(value >> 8 * i & 0xff);
  }
}

}  // namespace cosmic
