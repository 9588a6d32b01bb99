// A short number that stands for content: equal content gives the same number on every machine, and
// a changed bit another one. It finds accidents; it does not protect against somebody who looks for
// a collision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace cosmic {

class ContentHash {
 public:
  void add(std::uint64_t word) {
    constexpr std::uint64_t kOddFactor = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio: mixes all bits
    state_ = (state_ ^ word) * kOddFactor;
    state_ ^= state_ >> 32;
  }
  void add(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    add(bits);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }

  /// The elements and their number, so that [1] [2, 3] and [1, 2] [3] differ.
  template <class Value>
  requires std::is_arithmetic_v<Value>
  void add(std::span<const Value> values) { add(std::as_bytes(values)); }
  void add(std::span<const std::byte> bytes);

  std::uint64_t value() const { return state_; }
  /// Sixteen hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t state_ = 0x6a09e667f3bcc908;  // anything but 0, which would hide leading zeros
};

}  // namespace cosmic
