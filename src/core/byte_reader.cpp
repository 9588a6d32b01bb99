#include "core/byte_reader.hpp"

#include "core/error.hpp"

namespace cosmic {

std::uint64_t ByteReader::unsigned_of(std::size_t width) {
  COSMIC_ASSERT(width <= sizeof(std::uint64_t));
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::byte byte : take(width)) {
    value |= std::to_integer<std::uint64_t>(byte) << shift;
    shift += 8;
  }
  return value;
}

std::size_t ByteReader::count(std::size_t least_bytes) {
  const std::uint64_t value = u64();
  require(value <= left() / least_bytes, "says that more follows than there are bytes left");
  return static_cast<std::size_t>(value);
}

std::string_view ByteReader::text_until(char end) {
  const std::span<const std::byte> rest = bytes_.subspan(position_);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const std::size_t length = text.find(end);
  require(length != std::string_view::npos, "has a text that does not end");
  position_ += length + 1;
  return text.substr(0, length);
}

void ByteReader::require_end() const {
  require(left() == 0, "goes on after its end");
}

void ByteReader::fail(std::string_view problem) const {
  throw DataError(what_ + " " + std::string(problem) + " (byte " + std::to_string(position_) +
                  " of " + std::to_string(bytes_.size()) + "); " + std::string(advice_));
}

void ByteReader::fail_short(std::uint64_t needed) const {
  fail("ends too early: " + std::to_string(needed) + (needed == 1 ? " byte is" : " bytes are") +
       " needed, " + std::to_string(left()) + (left() == 1 ? " is" : " are") + " left");
}

}  // namespace cosmic
