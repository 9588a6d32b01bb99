#include "checkpoint/zip_archive.hpp"

#include <gmock/gmock.h>

#include "checkpoint/archive_writer.hpp"
#include "checkpoint/pickle_writer.hpp"
#include "checkpoint/scratch_folder.hpp"
#include "core/error.hpp"

namespace cosmic::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ZipArchiveTest : public ScratchFolder {
 protected:
  ZipArchiveTest() : path_(folder_ / "archive.ckpt") {}

  static std::vector<ArchiveEntry> two_entries() {
    return {{"root/data.pkl", "pickle"}, {"root/data/0", "1234"}};
  }

  /// Reads everything.
  void read_all() const {
    const ZipArchive archive(path_);
    for (const std::string& name : archive.names()) {
      archive.read(name);
    }
  }

  void expect_refusal(const std::string& bytes, const std::string& reason) const {
    write_file(path_, bytes);
    EXPECT_THAT([&] { read_all(); }, ThrowsMessage<DataError>(HasSubstr(reason)));
  }

  std::filesystem::path path_;
};

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(ZipArchiveTest, gives_its_entries) {
  write_file(path_, archive_of(two_entries()));
  EXPECT_TRUE(ZipArchive::is_archive(path_));
  const ZipArchive archive(path_);
  EXPECT_THAT(archive.names(), ElementsAre("root/data.pkl", "root/data/0"));
  EXPECT_EQ(archive.bytes("root/data/0"), 4U);
  EXPECT_EQ(text_of(archive.read("root/data/0")), "1234");
  EXPECT_FALSE(archive.has("root/data/1"));
  EXPECT_THAT([&] { archive.read("root/data/1"); },
              ThrowsMessage<DataError>(HasSubstr("there is no entry 'root/data/1'")));
}

TEST_F(ZipArchiveTest, reads_numbers_of_64_bits) {
  const ArchiveFaults wide{.record = [](ArchiveRecord& record) {
    record.extra =
        little(std::uint16_t{0x4246}) + little(std::uint16_t{2}) + "ZZ" + little(std::uint16_t{1}) +
        little(std::uint16_t{24}) + little(std::uint64_t{record.bytes}) +
        little(std::uint64_t{record.stored_bytes}) + little(std::uint64_t{record.header});
    record.bytes = record.stored_bytes = record.header = 0xffffffff;
  }};
  write_file(path_, archive_of(two_entries(), wide));
  EXPECT_EQ(text_of(ZipArchive(path_).read("root/data/0")), "1234");
}

TEST_F(ZipArchiveTest, is_told_from_other_files) {
  write_file(path_, "PK");
  EXPECT_FALSE(ZipArchive::is_archive(path_));
  EXPECT_FALSE(ZipArchive::is_archive(folder_));
  EXPECT_FALSE(ZipArchive::is_archive(folder_ / "missing"));
  EXPECT_THAT([&] { ZipArchive archive(folder_ / "missing"); },
              ThrowsMessage<DataError>(HasSubstr("No such file")));
  EXPECT_THAT([&] { ZipArchive archive(folder_); },
              ThrowsMessage<DataError>(HasSubstr("not a file")));
}

TEST_F(ZipArchiveTest, cut_anywhere_is_refused) {
  const std::string whole = archive_of(two_entries());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    EXPECT_THROW(read_all(), DataError) << "cut to " << size << " of " << whole.size() << " bytes";
  }
}

TEST_F(ZipArchiveTest, with_a_changed_byte_reads_or_is_refused) {
  const std::string whole = archive_of(two_entries());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 2, 16, 128, 255}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      write_file(path_, bytes);
      try {
        const ZipArchive archive(path_);
        for (const std::string& name : archive.names()) {
          EXPECT_THAT(text_of(archive.read(name)), testing::AnyOf("pickle", "1234"));
        }
      } catch (const DataError&) {
      }
    }
  }
}

TEST_F(ZipArchiveTest, followed_by_something_is_refused) {
  expect_refusal(archive_of(two_entries()) + "x", "no end record in the last 22 bytes");
}

TEST_F(ZipArchiveTest, with_a_changed_content_is_refused) {
  std::string bytes = archive_of(two_entries());
  bytes[bytes.find("1234")] = '9';
  expect_refusal(bytes, "the checksum of entry 'root/data/0' is wrong");
}

TEST_F(ZipArchiveTest, with_an_entry_twice_is_refused) {
  expect_refusal(archive_of({{"a", "1"}, {"a", "2"}}), "entry 'a' is there twice");
}

TEST_F(ZipArchiveTest, that_is_compressed_is_refused) {
  expect_refusal(archive_of(two_entries(), {.record = [](ArchiveRecord& r) { r.method = 8; }}),
                 "is compressed");
  // A bomb says that it is small and becomes large.
  expect_refusal(
      archive_of(two_entries(), {.record = [](ArchiveRecord& r) { r.bytes = 0xfffffffe; }}),
      "is compressed");
}

TEST_F(ZipArchiveTest, that_is_encrypted_is_refused) {
  expect_refusal(archive_of(two_entries(), {.record = [](ArchiveRecord& r) { r.flags |= 1; }}),
                 "is encrypted");
}

TEST_F(ZipArchiveTest, whose_entries_overlap_is_refused) {
  expect_refusal(archive_of(two_entries(), {.record = [](ArchiveRecord& r) { r.header = 0; }}),
                 "overlap");
}

TEST_F(ZipArchiveTest, whose_entries_lie_elsewhere_is_refused) {
  const ArchiveFaults beyond{.record = [](ArchiveRecord& r) { r.header = 1'000'000; }};
  expect_refusal(archive_of(two_entries(), beyond), "the directory starts at byte");
  const ArchiveFaults large{
      .record = [](ArchiveRecord& r) { r.bytes = r.stored_bytes = 0x7fffffff; }};
  expect_refusal(archive_of(two_entries(), large), "has 2147483647 bytes");
  const ArchiveFaults shifted{.record = [](ArchiveRecord& r) { r.header += 1; }};
  expect_refusal(archive_of(two_entries(), shifted), "is invalid");
}

TEST_F(ZipArchiveTest, whose_names_disagree_is_refused) {
  const ArchiveFaults renamed{.record = [](ArchiveRecord& r) { r.name.back() = '7'; }};
  expect_refusal(archive_of(two_entries(), renamed), "contradicts the directory");
}

TEST_F(ZipArchiveTest, without_the_64_bit_numbers_it_announces_is_refused) {
  const ArchiveFaults missing{.record = [](ArchiveRecord& r) { r.header = 0xffffffff; }};
  expect_refusal(archive_of(two_entries(), missing), "announces 64-bit numbers but has none");
  const ArchiveFaults short_field{.record = [](ArchiveRecord& r) {
    r.header = 0xffffffff;
    r.extra = little(std::uint16_t{1}) + little(std::uint16_t{4}) + "1234";
  }};
  expect_refusal(archive_of(two_entries(), short_field), "8 bytes are needed, 4 are left");
}

TEST_F(ZipArchiveTest, whose_end_records_disagree_is_refused) {
  expect_refusal(archive_of(two_entries(), {.narrow_end = [](ArchiveEnd& e) { e.entries = 1; }}),
                 "the two end records disagree");
}

TEST_F(ZipArchiveTest, that_announces_more_than_there_could_be_is_refused) {
  const auto both = [](const std::function<void(ArchiveEnd&)>& fault) {
    return ArchiveFaults{.narrow_end = fault, .wide_end = fault};
  };
  expect_refusal(archive_of(two_entries(), both([](ArchiveEnd& e) { e.entries = 3; })),
                 "4 bytes are needed, 0 are left");
  expect_refusal(archive_of(two_entries(), both([](ArchiveEnd& e) { e.entries = 1; })),
                 "continues after its last entry");
  expect_refusal(archive_of(two_entries(), both([](ArchiveEnd& e) { e.begin += 1; })),
                 "the directory is said to have");
  const auto most = [](ArchiveEnd& e) { e.entries = e.bytes = e.begin = UINT64_MAX; };
  expect_refusal(archive_of(two_entries(), both(most)), "18446744073709551615 entries");
}

}  // namespace
}  // namespace cosmic::checkpoint
