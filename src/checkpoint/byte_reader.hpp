// Reads numbers and texts from bytes, front to back, and never beyond their end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace cosmic::checkpoint {

class ByteReader {
 public:
  /// `what` is what the bytes are, for messages. The bytes must live as long as the reader.
  ByteReader(std::span<const std::byte> bytes, std::string what)
      : bytes_(bytes), what_(std::move(what)) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  /// Throws DataError if fewer are left.
  std::span<const std::byte> take(std::uint64_t count);

  std::string_view text(std::uint64_t count) {
    const std::span<const std::byte> taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  /// Up to a line feed, which is taken too. Throws DataError if none comes.
  std::string_view line();

  /// A number as it lies in memory of a little-endian machine.
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> Number little() {
    static_assert(std::endian::native == std::endian::little);
    Number number{};
    std::memcpy(&number, take(sizeof(number)).data(), sizeof(number));
    return number;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string what_;
  std::size_t position_ = 0;
};

}  // namespace cosmic::checkpoint
