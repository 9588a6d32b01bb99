// Opening files, and several at once. What can be wrong inside a file is in broken_files_test.cpp.
#include "data/larcv/event_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/product_name.hpp"
#include "data/larcv/read_warnings.hpp"
#include "data/larcv/sparse2d_reader.hpp"
#include "data/larcv/unpacked_file.hpp"

namespace cosmic::data::larcv {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Root may read every file, so whoever runs the tests as root is somebody else while this lives.
class NotRoot {
 public:
  NotRoot() : was_root_(geteuid() == 0 && seteuid(kNobody) == 0) {}
  ~NotRoot() {
    if (was_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  bool was_root_;
};

class EventFiles : public testing::Test {
 protected:
  EventFiles() { fs::create_directories(folder_); }
  ~EventFiles() override { fs::remove_all(folder_); }

  auto opening(const fs::path& path) {
    return [this, path] { const EventFile file(path, warnings_); };
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("event_files_" + std::to_string(getpid()));
  ReadWarnings warnings_;
};

TEST_F(EventFiles, that_are_missing_are_named) {
  EXPECT_THAT(opening("no/such/file.h5"),
              ThrowsMessage<DataError>(AllOf(HasSubstr("no/such/file.h5: cannot be opened"),
                                             HasSubstr("No such file"))));
}

TEST_F(EventFiles, that_are_folders_are_refused) {
  EXPECT_THAT(opening(folder_), ThrowsMessage<DataError>(HasSubstr("is a folder")));
}

TEST_F(EventFiles, that_are_pipes_are_refused_without_waiting) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(opening(pipe), ThrowsMessage<DataError>(HasSubstr("is no ordinary file")));
}

TEST_F(EventFiles, that_may_not_be_read_are_refused) {
  const fs::path path = folder_ / "secret.h5";
  std::ofstream(path) << "x";
  fs::permissions(path, fs::perms::none);
  const NotRoot someone;
  EXPECT_THAT(opening(path), ThrowsMessage<DataError>(HasSubstr("Permission denied")));
}

TEST_F(EventFiles, that_shrink_while_they_are_read_give_an_error) {
  const UnpackedFile file("sound_chunked.h5");
  const LarcvSource source({.files = {file.path()}});
  fs::resize_file(file.path(), 100);
  SparseEvent event;
  EXPECT_THAT([&] { source.reader()->read(0, event); },
              ThrowsMessage<DataError>(HasSubstr("the file has become shorter")));
}

TEST_F(EventFiles, of_several_are_read_in_order) {
  const UnpackedFile first("sound_plain.h5");
  const UnpackedFile second("sound_chunked.h5");
  const LarcvSource source({.files = {first.path(), second.path()}});
  ASSERT_EQ(source.size(), 4);
  EXPECT_FALSE(source.labelled());
  const auto reader = source.reader();
  SparseEvent event;
  for (const std::int64_t entry : {3, 0, 2, 1}) {
    reader->read(entry, event);
    EXPECT_EQ(event.id.event, 3 + entry % 2) << entry;
    EXPECT_FALSE(event.labelled);
  }
}

TEST_F(EventFiles, can_be_opened_and_read_by_threads_at_the_same_time) {
  const UnpackedFile unpacked("sound_chunked_one_row_each.h5");
  const EventFile file(unpacked.path(), warnings_);
  constexpr std::size_t kThreads = 4;
  std::array<SparseImage, kThreads> images;
  std::vector<std::thread> threads;
  for (SparseImage& image : images) {
    // Each makes its own reader, so that they ask for the same tables while those are not yet open.
    threads.emplace_back([&] {
      Sparse2dReader reader(file, "sbndwire", PixelMeaning::charge, warnings_);
      for (const std::int64_t entry : {0, 1, 0, 1}) {
        reader.read(entry, image);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const SparseImage& image : images) {
    EXPECT_THAT(image[2].ids, testing::ElementsAre(11, 12));
    EXPECT_THAT(image[2].values, testing::ElementsAre(13.5F, 14.5F));
  }
}

TEST_F(EventFiles, of_which_one_lacks_labels_are_refused) {
  const UnpackedFile with("label_missing.h5");
  const UnpackedFile without("sound_plain.h5");
  EXPECT_THAT(([&] {
                LarcvSource({.files = {with.path(), without.path()}});
              }),
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr(without.path().string()), HasSubstr("sbnd_cosmicseg"))));
}

TEST_F(EventFiles, of_different_grids_are_refused) {
  const UnpackedFile first("sound_plain.h5");
  const UnpackedFile second("more_pixels_than_the_grid_has.h5");
  EXPECT_THAT(([&] {
                LarcvSource({.files = {first.path(), second.path()}});
              }),
              ThrowsMessage<DataError>(
                  HasSubstr("has images of 1x2 pixels (the files before it have 8x6")));
}

TEST_F(EventFiles, without_a_name_are_an_error_of_the_user) {
  EXPECT_THROW(LarcvSource(LarcvOptions{}), UserError);
}

TEST_F(EventFiles, entries_that_do_not_exist_are_an_error_of_the_user) {
  const UnpackedFile file("sound_plain.h5");
  const LarcvSource source({.files = {file.path()}});
  SparseEvent event;
  for (const std::int64_t entry : {-1, 2}) {
    EXPECT_THAT([&] { source.reader()->read(entry, event); },
                ThrowsMessage<UserError>(HasSubstr("(the files have 2, counted from 0)")));
  }
}

TEST_F(EventFiles, image_and_label_producers_can_be_chosen) {
  const UnpackedFile file("label_missing.h5");
  const LarcvSource source(
      {.files = {file.path()}, .image_producer = "sbnd_cosmicseg", .labels = LabelUse::ignored});
  EXPECT_FALSE(source.labelled());
  SparseEvent event;
  source.reader()->read(1, event);
  EXPECT_THAT(event.image[2].values, testing::ElementsAre(2.0F, 0.0F));
  EXPECT_THAT(([&] { LarcvSource({.files = {file.path()}, .image_producer = "sbndwires"}); }),
              ThrowsMessage<DataError>(HasSubstr("has no product 'sparse2d_sbndwires' (it has: ")));
}

TEST(ProductNames, are_taken_apart_at_the_first_and_last_underscore) {
  EXPECT_EQ(parse_group_name("sparse2d_sbnd_cosmicseg_group"),
            (ProductName{"sparse2d", "sbnd_cosmicseg"}));
  EXPECT_EQ(group_name({"sparse2d", "sbnd_cosmicseg"}), "sparse2d_sbnd_cosmicseg_group");
  for (const char* name :
       {"", "_", "group", "_group", "sparse2d_group", "sparse2d__group", "_sbndwire_group",
        "sparse2d_sbndwire_groups", "sparse2d_sbndwire", "sparse2d_a/b_group"}) {
    EXPECT_EQ(parse_group_name(name), std::nullopt) << name;
  }
  EXPECT_EQ(parse_group_name("sparse2d_" + std::string(kMaxGroupName, 'x') + "_group"),
            std::nullopt);
}

TEST(ProductNames, that_could_not_be_read_back_are_refused) {
  for (const ProductName& product : {ProductName{"sparse_2d", "a"}, ProductName{"sparse2d", ""},
                                     ProductName{"sparse2d", "a/b"}}) {
    EXPECT_THROW(group_name(product), UserError) << product.producer;
  }
}

TEST(ReadWarningsList, counts_each_kind_and_keeps_the_first_example) {
  ReadWarnings warnings;
  EXPECT_TRUE(warnings.list().empty());
  const ReadPlace place{.file = "a.h5", .event = 4};
  warnings.add(WarningKind::duplicate_id, 2, place, [] { return std::string("first"); });
  warnings.add(WarningKind::duplicate_id, 3, place, [] { return std::string("second"); });
  warnings.add(WarningKind::gap_in_rows, 1, place, [] { return std::string("gap"); });
  ASSERT_EQ(warnings.list().size(), 2U);
  EXPECT_EQ(warnings.list()[1].first, "first");
  EXPECT_EQ(warnings.count(WarningKind::duplicate_id), 5U);
  EXPECT_EQ(warnings.total(), 6U);
}

TEST(ReadWarningsList, has_the_example_of_the_earliest_event_in_whatever_order_events_are_read) {
  ReadWarnings warnings;
  for (const std::int64_t event : {7, 2, 5}) {
    warnings.add(WarningKind::duplicate_id, 1, {.file = "a.h5", .event = event},
                 [&] { return "event " + std::to_string(event); });
  }
  const ReadNote note = notes_of(warnings).front();
  EXPECT_EQ(note.count, 3U);
  EXPECT_EQ(note.first, "event 2");
  EXPECT_EQ(note.event, 2);
}

}  // namespace
}  // namespace cosmic::data::larcv
