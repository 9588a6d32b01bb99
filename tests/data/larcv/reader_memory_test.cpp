// A loader reads events for days; once its buffers have grown, reading must not allocate.
#include <gtest/gtest.h>

#include <filesystem>

#include "allocation_counter.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/sample_file.hpp"
#include "data/larcv/unpacked_file.hpp"

namespace cosmic::data::larcv {
namespace {

long allocations_of_second_pass(const LarcvSource& source) {
  const auto reader = source.reader();
  SparseEvent event;
  const auto read_all = [&] {
    for (std::int64_t entry = 0; entry < source.size(); ++entry) {
      reader->read(entry, event);
    }
  };
  read_all();
  return allocations_of(read_all);
}

TEST(ReaderMemory, is_not_allocated_again_for_files_in_chunks) {
  if (!counts_allocations()) {
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }
  const UnpackedFile chunked("sound_chunked.h5");
  const UnpackedFile converted("sound_big_endian.h5");
  const UnpackedFile shuffled("sound_shuffled_with_checksum.h5");
  const LarcvSource source({.files = {chunked.path(), converted.path(), shuffled.path()}});
  EXPECT_EQ(allocations_of_second_pass(source), 0);
}

TEST(ReaderMemory, is_not_allocated_again_for_the_sample_file) {
  COSMIC_NEEDS_SAMPLE_FILE();
  if (!counts_allocations()) {
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }
  EXPECT_EQ(allocations_of_second_pass(LarcvSource({.files = {kSampleFile}})), 0);
}

}  // namespace
}  // namespace cosmic::data::larcv
