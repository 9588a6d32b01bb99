#include "core/protobuf_writer.hpp"

#include <gmock/gmock.h>

namespace cosmic {
namespace {

std::string hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += text.empty() ? "" : " ";
    text += kDigits[value >> 4];
    text += kDigits[value & 0xf];
  }
  return text;
}

// The examples of the format's own documentation, where there are any.

TEST(ProtobufWriter, writes_integers_seven_bits_a_byte) {
  ProtobufWriter message;
  message.integer(1, 150);
  EXPECT_EQ(hex(message.encoded()), "08 96 01");
}

TEST(ProtobufWriter, writes_the_edges_of_integers) {
  const auto encoded = [](std::int64_t value) {
    ProtobufWriter message;
    message.integer(1, value);
    return hex(message.encoded());
  };
  EXPECT_EQ(encoded(0), "08 00");
  EXPECT_EQ(encoded(127), "08 7f");
  EXPECT_EQ(encoded(128), "08 80 01");
  EXPECT_EQ(encoded(-2), "08 fe ff ff ff ff ff ff ff ff 01");
}

TEST(ProtobufWriter, writes_large_field_numbers) {
  ProtobufWriter message;
  message.integer(20, 1);
  EXPECT_EQ(hex(message.encoded()), "a0 01 01");
}

TEST(ProtobufWriter, writes_bytes_behind_their_length) {
  ProtobufWriter message;
  message.bytes(2, "testing");
  message.bytes(3, std::string(200, 'x'));
  EXPECT_THAT(hex(message.encoded()),
              testing::StartsWith("12 07 74 65 73 74 69 6e 67 1a c8 01 78 78"));
}

TEST(ProtobufWriter, writes_reals_little_endian) {
  ProtobufWriter message;
  message.real32(1, 1.0F);
  message.real64(2, -2.0);
  EXPECT_EQ(hex(message.encoded()), "0d 00 00 80 3f 11 00 00 00 00 00 00 00 c0");
}

TEST(ProtobufWriter, nests_messages) {
  ProtobufWriter inner;
  inner.integer(1, 150);
  ProtobufWriter outer;
  outer.message(3, inner);
  EXPECT_EQ(hex(outer.encoded()), "1a 03 08 96 01");
}

}  // namespace
}  // namespace cosmic
