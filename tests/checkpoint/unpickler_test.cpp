// The restricted unpickler: what it understands, and what it refuses.
#include "checkpoint/unpickler.hpp"

#include <gmock/gmock.h>

#include "checkpoint/hostile_pickles.hpp"
#include "checkpoint/pickle_writer.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

PickleTree read(const std::string& bytes) {
  return unpickle(std::as_bytes(std::span(bytes)), "data.pkl");
}

template <class Kind>
Kind read_as(const PickleWriter& pickle) {
  const PickleTree tree = read(pickle.finish());
  return std::get<Kind>(tree.at(tree.root));
}

TEST(HostilePickles, are_refused_with_place_and_reason) {
  for (const HostilePickle& pickle : hostile_pickles()) {
    EXPECT_THAT([&] { read(pickle.bytes); },
                ThrowsMessage<DataError>(
                    AllOf(StartsWith("data.pkl"), HasSubstr(pickle.refusal), HasSubstr("; "))))
        << "the pickle that " << pickle.name;
  }
}

/// Anything but a DataError fails the test or ends the process.
TEST(HostilePickles, do_no_harm_wherever_they_are_cut) {
  for (const HostilePickle& pickle : hostile_pickles()) {
    constexpr std::size_t kSmall = 300;  // the large ones repeat themselves
    for (std::size_t size = 0; size < std::min(pickle.bytes.size(), kSmall); ++size) {
      try {
        read(pickle.bytes.substr(0, size));
      } catch (const DataError& error) {
        EXPECT_THAT(error.what(), StartsWith("data.pkl")) << pickle.name;
      }
    }
  }
}

TEST(HostilePickles, name_the_byte_and_the_opcode) {
  EXPECT_THAT(
      [] { read(PickleWriter().none().global("os", "system").finish()); },
      ThrowsMessage<DataError>(HasSubstr("data.pkl, byte 3, GLOBAL: it names 'os.system'")));
}

TEST(Unpickler, reads_numbers_of_all_widths) {
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw("K\xff")), 255);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw("M\xff\xff")), 65535);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw("J\xff\xff\xff\xff")), -1);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw(std::string("\x8a\x00", 2))), 0);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw("\x8a\x01\xff")), -1);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().raw(std::string("\x8a\x02\xff\x00", 4))), 255);
  EXPECT_EQ(read_as<std::int64_t>(PickleWriter().number(INT64_MIN)), INT64_MIN);
  EXPECT_EQ(read_as<double>(PickleWriter().real(-0.001)), -0.001);
  EXPECT_EQ(read_as<bool>(PickleWriter().boolean(true)), true);
}

TEST(Unpickler, reads_texts_and_bytes_of_later_protocols) {
  EXPECT_EQ(read_as<std::string>(PickleWriter(4).raw("\x8c\x03"
                                                     "abc")),
            "abc");
  EXPECT_EQ(
      read_as<std::string>(PickleWriter(4).raw("\x8d").raw(little(std::uint64_t{3})).raw("abc")),
      "abc");
  EXPECT_EQ(read_as<PickleBytes>(PickleWriter(3).raw("C\x02"
                                                     "ab"))
                .bytes,
            "ab");
  EXPECT_EQ(read_as<PickleBytes>(PickleWriter(3).raw("B").raw(little(2U)).raw("ab")).bytes, "ab");
  EXPECT_EQ(read_as<std::string>(PickleWriter(4)
                                     .raw("\x95")
                                     .raw(little(std::uint64_t{6}))
                                     .raw("\x8c\x03"
                                          "abc")),
            "abc");
}

TEST(Unpickler, reads_containers_in_order) {
  const PickleTree tree = read(PickleWriter()
                                   .ordered_dict()
                                   .put(0)
                                   .mark()
                                   .text("z")
                                   .numbers({1, 2})
                                   .text("a")
                                   .empty_list()
                                   .mark()
                                   .none()
                                   .none()
                                   .appends()
                                   .number(3)
                                   .boolean(false)
                                   .set_items()
                                   .finish());
  const auto& dict = std::get<PickleDict>(tree.at(tree.root));
  ASSERT_EQ(dict.items.size(), 3U);
  EXPECT_EQ(dict.items[0].first, PickleKey("z"));
  EXPECT_EQ(dict.items[1].first, PickleKey("a"));
  EXPECT_EQ(dict.items[2].first, PickleKey(std::int64_t{3}));
  EXPECT_EQ(std::get<PickleTuple>(tree.at(dict.items[0].second)).items.size(), 2U);
  EXPECT_EQ(std::get<PickleList>(tree.at(dict.items[1].second)).items.size(), 2U);
}

TEST(Unpickler, shares_what_is_remembered) {
  const PickleTree tree = read(
      PickleWriter(4).text("a").opcode(0x94).raw(std::string("h\x00", 2)).raw("\x86").finish());
  const auto& pair = std::get<PickleTuple>(tree.at(tree.root));
  ASSERT_EQ(pair.items.size(), 2U);
  EXPECT_EQ(pair.items[0], pair.items[1]);
}

TEST(Unpickler, reads_a_tensor_as_a_view) {
  const auto tensor = read_as<PickleTensor>(PickleWriter().tensor({.type = "LongStorage",
                                                                   .key = "12",
                                                                   .elements = 10,
                                                                   .offset = 1,
                                                                   .shape = {2, 3},
                                                                   .strides = {1, 2}}));
  EXPECT_EQ(tensor.storage.type, StorageType::i64);
  EXPECT_EQ(tensor.storage.elements, 10U);
  EXPECT_EQ(tensor.offset, 1U);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  EXPECT_THAT(tensor.strides, ElementsAre(1, 2));
}

TEST(Unpickler, ignores_the_versions_that_a_state_dict_carries) {
  EXPECT_TRUE(read_as<PickleDict>(PickleWriter()
                                      .ordered_dict()
                                      .empty_dict()
                                      .text("_metadata")
                                      .ordered_dict()
                                      .set_item()
                                      .build())
                  .items.empty());
}

/// As the reference's scheduler stores a learning rate: bytes by way of text.
TEST(Unpickler, reads_a_numpy_number) {
  const std::string bytes = little(0.001);
  std::string text;
  for (const char c : bytes) {
    const auto unit = static_cast<unsigned char>(c);
    if (unit < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | (unit >> 6));
      text += static_cast<char>(0x80 | (unit & 0x3f));
    }
  }
  const PickleWriter pickle = PickleWriter()
                                  .global("numpy.core.multiarray", "scalar")
                                  .mark()
                                  .global("numpy", "dtype")
                                  .mark()
                                  .text("f8")
                                  .boolean(false)
                                  .boolean(true)
                                  .tuple()
                                  .reduce()
                                  .mark()
                                  .number(3)
                                  .text("<")
                                  .none()
                                  .none()
                                  .none()
                                  .number(-1)
                                  .number(-1)
                                  .number(0)
                                  .tuple()
                                  .build()
                                  .global("_codecs", "encode")
                                  .mark()
                                  .text(text)
                                  .text("latin1")
                                  .tuple()
                                  .reduce()
                                  .tuple()
                                  .reduce();
  EXPECT_EQ(read_as<double>(pickle), 0.001);
}

TEST(Unpickler, reads_a_size) {
  EXPECT_EQ(read_as<PickleTuple>(
                PickleWriter().global("torch", "Size").mark().numbers({2, 3}).tuple().reduce())
                .items.size(),
            2U);
}

}  // namespace
}  // namespace cosmic::checkpoint
