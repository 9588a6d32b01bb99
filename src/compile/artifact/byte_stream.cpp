#include "compile/artifact/byte_stream.hpp"

#include <bit>
#include <cstring>

#include "core/error.hpp"

namespace cosmic::compile::artifact {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they lie in memory, and the files are little-endian");

template <class Number>
void append(std::string& bytes, Number value) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &value, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}

template <class Number>
Number number_of(std::string_view bytes) {
  Number value{};
  std::memcpy(&value, bytes.data(), sizeof(Number));
  return value;
}

}  // namespace

void ByteWriter::u32(std::uint32_t value) {
  append(bytes_, value);
}

void ByteWriter::u64(std::uint64_t value) {
  append(bytes_, value);
}

void ByteWriter::real(double value) {
  append(bytes_, value);
}

void ByteWriter::text(std::string_view value) {
  count(value.size());
  bytes_.append(value);
}

std::string_view ByteReader::take(std::size_t bytes) {
  require(bytes <= left(), "ends in the middle of a value");
  const std::string_view taken = bytes_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

std::uint8_t ByteReader::u8() {
  return number_of<std::uint8_t>(take(sizeof(std::uint8_t)));
}

std::uint32_t ByteReader::u32() {
  return number_of<std::uint32_t>(take(sizeof(std::uint32_t)));
}

std::uint64_t ByteReader::u64() {
  return number_of<std::uint64_t>(take(sizeof(std::uint64_t)));
}

double ByteReader::real() {
  return number_of<double>(take(sizeof(double)));
}

std::size_t ByteReader::count(std::size_t least_bytes) {
  const std::uint64_t value = u64();
  require(value <= left() / least_bytes, "says that more follows than there are bytes left");
  return static_cast<std::size_t>(value);
}

std::string_view ByteReader::text() {
  return take(count(1));
}

void ByteReader::require_end() const {
  require(left() == 0, "goes on after its end");
}

void ByteReader::require(bool ok, std::string_view problem) const {
  COSMIC_REQUIRE(
      DataError, ok,
      problem << " (byte " << at_ << " of " << bytes_.size() << " of its content; it is damaged)");
}

}  // namespace cosmic::compile::artifact
