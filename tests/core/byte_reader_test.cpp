// A reader of bytes that somebody else wrote says where they stop making sense.
#include "core/byte_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/byte_writer.hpp"
#include "core/error.hpp"

namespace cosmic {
namespace {

using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

ByteReader reader_of(std::string_view bytes) {
  return {bytes, "the letter", "write it again"};
}

TEST(ByteReader, reads_what_the_writer_wrote) {
  ByteWriter out;
  out.u8(7);
  out.u32(0xfedcba98);
  out.u64(0x0123456789abcdef);
  out.i64(-5);
  out.real(-0.1);
  out.text("hello");
  ByteReader in = reader_of(out.bytes());
  EXPECT_EQ(in.u8(), 7);
  EXPECT_EQ(in.u32(), 0xfedcba98);
  EXPECT_EQ(in.u64(), 0x0123456789abcdef);
  EXPECT_EQ(in.i64(), -5);
  EXPECT_EQ(in.real(), -0.1);
  EXPECT_EQ(in.text(), "hello");
  EXPECT_NO_THROW(in.require_end());
}

TEST(ByteReader, reads_the_lowest_byte_first_whatever_the_width) {
  constexpr std::string_view bytes("\x01\x02\xff\xff\xff\xff\x03\x02\x01", 9);
  ByteReader in = reader_of(bytes);
  EXPECT_EQ(in.u16(), 0x0201);
  EXPECT_EQ(in.i32(), -1);
  EXPECT_EQ(in.unsigned_of(3), 0x010203U);
  EXPECT_EQ(in.position(), 9U);
}

TEST(ByteReader, stops_at_the_end_and_names_the_byte) {
  ByteWriter out;
  out.text("hello");
  for (std::size_t bytes = 0; bytes < out.bytes().size(); ++bytes) {
    ByteReader in = reader_of(std::string_view(out.bytes()).substr(0, bytes));
    EXPECT_THROW(in.text(), DataError) << bytes;
  }
  ByteReader whole = reader_of(out.bytes());
  EXPECT_EQ(whole.text(), "hello");
  EXPECT_THAT([&] { whole.u8(); },
              ThrowsMessage<DataError>(StrEq("the letter ends too early: 1 byte is needed, 0 are "
                                             "left (byte 13 of 13); write it again")));
}

TEST(ByteReader, stays_where_it_was_when_there_are_too_few_bytes) {
  ByteReader in = reader_of("abc");
  EXPECT_THROW(in.u32(), DataError);
  EXPECT_THROW(in.skip(UINT64_MAX), DataError);
  EXPECT_EQ(in.text(3), "abc");
}

TEST(ByteReader, compares_a_count_with_the_bytes_that_are_left) {
  ByteWriter out;
  out.count(3);
  out.u64(0);
  out.u64(0);
  EXPECT_THAT([&] { reader_of(out.bytes()).count(8); },
              ThrowsMessage<DataError>(HasSubstr("more follows than there are bytes left")));
}

TEST(ByteReader, takes_the_end_of_a_text_with_it) {
  ByteReader in = reader_of("one\ntwo");
  EXPECT_EQ(in.text_until('\n'), "one");
  EXPECT_EQ(in.position(), 4U);
  EXPECT_THAT([&] { in.text_until('\n'); },
              ThrowsMessage<DataError>(
                  StrEq("the letter has a text that does not end (byte 4 of 7); write it again")));
}

TEST(ByteReader, notices_what_nobody_read) {
  EXPECT_THAT([&] { reader_of("x").require_end(); },
              ThrowsMessage<DataError>(HasSubstr("goes on after its end (byte 0 of 1)")));
}

}  // namespace
}  // namespace cosmic
