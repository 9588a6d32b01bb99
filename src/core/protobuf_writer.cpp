#include "core/protobuf_writer.hpp"

#include <bit>

#include "core/little_endian.hpp"

namespace cosmic {
namespace {

/// What follows a field's number.
enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

/// Seven bits a byte, lowest first; the eighth says that more follow.
void append_varint(std::string& to, std::uint64_t value) {
  while (value > 0x7f) {
    to += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  to += static_cast<char>(value);
}

void append_key(std::string& to, std::uint32_t field, WireType type) {
  append_varint(to, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
}

}  // namespace

void ProtobufWriter::integer(std::uint32_t field, std::int64_t value) {
  append_key(encoded_, field, WireType::varint);
  append_varint(encoded_, static_cast<std::uint64_t>(value));
}

void ProtobufWriter::real32(std::uint32_t field, float value) {
  append_key(encoded_, field, WireType::fixed32);
  append_little_endian(encoded_, std::bit_cast<std::uint32_t>(value));
}

void ProtobufWriter::real64(std::uint32_t field, double value) {
  append_key(encoded_, field, WireType::fixed64);
  append_little_endian(encoded_, std::bit_cast<std::uint64_t>(value));
}

void ProtobufWriter::bytes(std::uint32_t field, std::string_view value) {
  append_key(encoded_, field, WireType::length_delimited);
  append_varint(encoded_, value.size());
  encoded_ += value;
}

}  // namespace cosmic
