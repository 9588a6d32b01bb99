#include "data/larcv/fingerprint.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "core/error.hpp"
#include "data/larcv/file_check.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sample_file.hpp"
#include "data/larcv/unpacked_file.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

class Fingerprint : public testing::Test {
 protected:
  /// Of twenty events, each changed by `change(event)`.
  template <class Change>
  std::string of_changed(const Change& change, const EventFileWriterOptions& options = {}) const {
    EventFileWriterOptions replacing = options;
    replacing.existing = Existing::replace;
    EventFileWriter writer(path_, replacing);
    for (std::int64_t number = 0; number < 20; ++number) {
      WrittenEvent event = some_event(number);
      change(event);
      write(writer, event);
    }
    writer.commit();
    return of(path_);
  }
  static std::string of(const std::filesystem::path& path) {
    return LarcvSource({.files = {path}}).fingerprint();
  }
  static void leave(WrittenEvent&) {}

  ScratchFolder folder_{"fingerprint"};
  std::filesystem::path path_ = folder_ / "events.h5";
};

TEST_F(Fingerprint, is_another_one_for_inverted_labels) {
  const std::string before = of_changed(leave);
  EXPECT_EQ(of_changed(leave), before);
  EXPECT_NE(of_changed([](WrittenEvent& event) {
              for (SparsePlane& plane : event.pixels.labels) {
                for (float& label : plane.values) {
                  label = label == 0 ? 0 : 3 - label;
                }
              }
            }),
            before);
}

// Also those that are neither first nor last nor in the middle.
TEST_F(Fingerprint, is_another_one_for_one_label_or_charge_of_any_event) {
  const std::string before = of_changed(leave);
  for (std::int64_t changed = 0; changed < 20; changed += 3) {
    for (std::size_t plane = 0; plane < 3; ++plane) {
      const auto of_this = [&](const auto& change) {
        return of_changed([&](WrittenEvent& event) {
          if (event.pixels.id.event == changed) {
            change(event.pixels);
          }
        });
      };
      EXPECT_NE(of_this([&](SparseEvent& event) {
                  float& label = event.labels[plane].values[3];
                  label = label == 2 ? 0 : label + 1;
                }),
                before)
          << changed;
      EXPECT_NE(of_this([&](SparseEvent& event) { event.image[plane].values.back() += 0.25F; }),
                before)
          << changed;
    }
  }
}

TEST_F(Fingerprint, is_another_one_where_two_pixels_exchange_their_labels) {
  const std::string before = of_changed(leave);
  EXPECT_NE(of_changed([](WrittenEvent& event) {
              std::vector<float>& labels = event.pixels.labels[2].values;
              const auto other = std::find_if(labels.begin(), labels.end(),
                                              [&](float label) { return label != labels[0]; });
              if (event.pixels.id.event == 7 && other != labels.end()) {
                std::swap(labels[0], *other);
              }
            }),
            before);
}

TEST_F(Fingerprint, is_another_one_for_the_same_events_in_another_order) {
  const std::string before = of_changed(leave);
  EventFileWriter writer(path_, {.existing = Existing::replace});
  for (std::int64_t number = 19; number >= 0; --number) {
    write(writer, some_event(number));
  }
  writer.commit();
  EXPECT_NE(of(path_), before);
}

TEST_F(Fingerprint, of_several_files_depends_on_each_and_on_their_order) {
  of_changed(leave);
  std::filesystem::copy(path_, folder_ / "a.h5");
  of_changed([](WrittenEvent& event) { event.pixels.labels[0].values[0] = 2; });
  std::filesystem::copy(path_, folder_ / "b.h5");
  const auto of_files = [&](const std::string& first, const std::string& second) {
    return LarcvSource({.files = {folder_ / first, folder_ / second}}).fingerprint();
  };
  EXPECT_NE(of_files("a.h5", "b.h5"), of_files("b.h5", "a.h5"));
  std::filesystem::copy(path_, folder_ / "c.h5");
  EXPECT_NE(of_files("a.h5", "b.h5"), of_files("c.h5", "b.h5"));
  EXPECT_EQ(of_files("a.h5", "b.h5"), of_files("a.h5", "c.h5"));
}

TEST_F(Fingerprint, of_data_check_is_that_of_a_run) {
  const std::string of_run = of_changed(leave);
  EXPECT_EQ(check_file(path_, {.threads = 2}).fingerprint, of_run);
}

TEST_F(Fingerprint, does_not_depend_on_how_the_file_is_packed) {
  const std::string before = of_changed(leave);
  EXPECT_EQ(of_changed(leave, {.deflate_level = 9}), before);
  EXPECT_EQ(of_changed(leave, {.deflate_level = 0}), before);
}

// h5py wrote the same rows in several ways: other chunks, not compressed, with other filters.
TEST_F(Fingerprint, does_not_depend_on_how_rows_are_cut_into_chunks) {
  const std::string plain = of(UnpackedFile("sound_plain.h5").path());
  for (const char* const file :
       {"sound_chunked.h5", "sound_chunked_one_row_each.h5", "sound_not_compressed.h5",
        "sound_shuffled_with_checksum.h5", "sound_only_shuffled.h5", "sound_filter_skipped.h5",
        "sound_compact.h5", "sound_user_block.h5", "sound_newest_format.h5",
        "sound_newest_format_one_chunk.h5"}) {
    EXPECT_EQ(of(UnpackedFile(file).path()), plain) << file;
  }
}

TEST_F(Fingerprint, can_be_had_of_a_file_with_a_damaged_product_that_a_run_does_not_read) {
  of_changed(leave);
  // The name of a table in the file, of which no other product has one.
  std::string bytes = content_of(path_);
  const std::size_t at = bytes.find("bboxes");
  ASSERT_NE(at, std::string::npos);
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(at))
      .write("cboxes", 6);
  EXPECT_NE(of(path_), "");
  EXPECT_GT(check_file(path_, {}).problem_count, 0);
}

/// Adler-32 as its definition has it, byte by byte.
std::uint32_t adler_of(const Table& table) {
  ChunkWorkspace workspace;
  std::uint32_t bytes_sum = 1;
  std::uint32_t sums_sum = 0;
  const std::uint64_t row_bytes = table.record().bytes;
  for (std::uint64_t chunk = 0; chunk * table.chunk_rows() < table.rows(); ++chunk) {
    std::vector<std::byte> rows(table.rows_in_chunk(chunk) * row_bytes);
    table.read_chunk(chunk, workspace, rows);
    rows.resize(std::min(table.chunk_rows(), table.rows() - chunk * table.chunk_rows()) *
                row_bytes);
    for (const std::byte byte : rows) {
      bytes_sum = (bytes_sum + std::to_integer<std::uint32_t>(byte)) % 65521;
      sums_sum = (sums_sum + bytes_sum) % 65521;
    }
  }
  return sums_sum << 16 | bytes_sum;
}

// Sums are kept while reading, and those of what was not read are looked up.
TEST_F(Fingerprint, is_the_same_before_and_after_events_are_read) {
  const std::string unread = of_changed(leave);
  const LarcvSource source({.files = {path_}});
  SparseEvent event;
  for (const std::int64_t entry : {3, 11, 12}) {
    source.reader()->read(entry, event);
  }
  EXPECT_EQ(source.fingerprint(), unread);
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    source.reader()->read(entry, event);
  }
  EXPECT_EQ(source.fingerprint(), unread);
}

TEST_F(Fingerprint, rests_on_checksums_of_all_rows_of_a_table) {
  of_changed(leave);
  ReadWarnings warnings;
  const EventFile file(path_, warnings);
  const ProductName image{std::string(kSparse2d), "sbndwire"};
  for (const Table* table : {&file.event_ids(), &file.table<VoxelRow>(image, kVoxelsTable),
                             &file.table<ExtentsRow>(image, kExtentsTable)}) {
    EXPECT_EQ(table->content_sum(), adler_of(*table)) << table->what();
  }
}

TEST_F(Fingerprint, of_the_real_sample_rests_on_checksums_of_all_rows) {
  COSMIC_NEEDS_SAMPLE_FILE();
  ReadWarnings warnings;
  const EventFile file(kSampleFile, warnings);
  for (const char* const producer : {"sbndwire", "sbnd_cosmicseg"}) {
    const Table& table = file.table<VoxelRow>({std::string(kSparse2d), producer}, kVoxelsTable);
    EXPECT_EQ(table.content_sum(), adler_of(table)) << producer;
  }
}

}  // namespace
}  // namespace cosmic::data::larcv
