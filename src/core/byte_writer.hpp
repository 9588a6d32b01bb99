// Numbers and texts as bytes, little-endian, without padding: what ByteReader reads.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/little_endian.hpp"

namespace cosmic {

class ByteWriter {
 public:
  void u8(std::uint8_t value) { append_little_endian(bytes_, value); }
  void u32(std::uint32_t value) { append_little_endian(bytes_, value); }
  void u64(std::uint64_t value) { append_little_endian(bytes_, value); }
  void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
  void real(double value) { u64(std::bit_cast<std::uint64_t>(value)); }
  /// How many things follow.
  void count(std::size_t value) { u64(value); }
  /// A text after the number of its bytes.
  void text(std::string_view value) {
    count(value.size());
    bytes_.append(value);
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace cosmic
