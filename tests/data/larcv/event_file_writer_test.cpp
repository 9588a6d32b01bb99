#include "data/larcv/event_file_writer.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/error.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* kSample = "../shared/data/cosmic_tagging_light.h5";

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WrittenFile : public testing::Test {
 protected:
  void write_file(const std::filesystem::path& path, std::int64_t events,
                  const EventFileWriterOptions& options = {},
                  const ImageMeta& grid = grid_of(64, 96)) const {
    EventFileWriter writer(path, options);
    for (std::int64_t number = 0; number < events; ++number) {
      write(writer, some_event(number, grid));
    }
    writer.commit();
  }

  /// Runs the script that reads the file with h5py, in the first Python that has it: Debian's is
  /// not always the first of the path. Its verdict, or 77 where there is none.
  int check_with_h5py(const std::filesystem::path& path, const std::string& arguments = "") const {
    constexpr int kMissing = 77;
    const std::filesystem::path report = folder_ / "report";
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      const std::string command = std::string(python) + " tests/data/larcv/check_written_file.py " +
                                  path.string() + " " + arguments + " > " + report.string() +
                                  " 2>&1";
      const int status = WEXITSTATUS(std::system(command.c_str()));
      if (status != kMissing && status != 127) {
        EXPECT_EQ(status, 0) << read_bytes(report);
        return status;
      }
    }
    return kMissing;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "events.h5";
};

class FormatOfWrittenFile : public WrittenFile, public testing::WithParamInterface<int> {};

TEST_P(FormatOfWrittenFile, is_what_h5py_finds_in_larcv3_files) {
  const int level = GetParam();
  write_file(path_, 25, {.deflate_level = level});  // several chunks of most tables
  std::string arguments = "--level " + std::to_string(level);
  if (level == kDeflateLevel && std::filesystem::exists(kSample)) {
    arguments += std::string(" --like ") + kSample;
  }
  if (check_with_h5py(path_, arguments) == 77) {
    GTEST_SKIP() << "needs h5py (package python3-h5py)";
  }
}

INSTANTIATE_TEST_SUITE_P(CompressionLevel, FormatOfWrittenFile, testing::Values(0, 1, 9));

TEST_F(WrittenFile, without_events_has_the_event_table_all_the_same) {
  EventFileWriter(path_).commit();
  if (check_with_h5py(path_) == 77) {
    GTEST_SKIP() << "needs h5py (package python3-h5py)";
  }
}

// 30 events of this size are more than the writer keeps in memory.
TEST_F(WrittenFile, has_the_same_bytes_for_any_number_of_threads) {
  write_file(path_, 30, {.team = Team(1)}, grid_of(512, 512));
  EXPECT_GT(std::filesystem::file_size(path_), 16U << 20);
  for (const int threads : {2, 3}) {
    const std::filesystem::path other = folder_ / ("threads" + std::to_string(threads));
    write_file(other, 30, {.team = Team(threads)}, grid_of(512, 512));
    EXPECT_TRUE(read_bytes(path_) == read_bytes(other)) << threads << " threads";
  }
}

TEST_F(WrittenFile, appears_only_when_committed) {
  EventFileWriter writer(path_);
  write(writer, some_event(1));
  EXPECT_THAT(folder_.names(), Not(testing::Contains("events.h5")));
  writer.commit();
  EXPECT_THAT(folder_.names(), testing::ElementsAre("events.h5"));
}

TEST_F(WrittenFile, is_gone_without_a_trace_if_never_committed) {
  {
    EventFileWriter writer(path_);
    write(writer, some_event(1));
  }
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(WrittenFile, replaces_another_only_if_asked_to) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT([&] { EventFileWriter writer(path_); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("events.h5"), HasSubstr("already exists"))));
  EXPECT_EQ(read_bytes(path_), "precious");
  {
    EventFileWriter unfinished(path_, {.existing = Existing::replace});
    write(unfinished, some_event(1));
  }
  EXPECT_EQ(read_bytes(path_), "precious");
  write_file(path_, 1, {.existing = Existing::replace});
  EXPECT_THAT(read_bytes(path_), HasSubstr("HDF"));
}

TEST_F(WrittenFile, does_not_replace_one_that_came_while_it_was_written) {
  EventFileWriter writer(path_);
  write(writer, some_event(1));
  std::ofstream(path_) << "precious";
  EXPECT_THROW(writer.commit(), UserError);
  EXPECT_EQ(read_bytes(path_), "precious");
}

TEST_F(WrittenFile, needs_a_folder_to_be_in) {
  EXPECT_THAT(
      [&] { EventFileWriter writer(folder_ / "missing" / "events.h5"); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("missing"), HasSubstr("does its folder exist"))));
  EXPECT_THAT([&] { EventFileWriter writer(folder_.path(), {.existing = Existing::replace}); },
              ThrowsMessage<UserError>(HasSubstr("is a folder")));
}

TEST_F(WrittenFile, has_a_compression_level_that_deflate_knows) {
  EXPECT_THAT([&] { EventFileWriter writer(path_, {.deflate_level = 10}); },
              ThrowsMessage<UserError>(HasSubstr("compression level 10")));
}

/// Runs `work` in a process of its own, which may be killed; its exit status, or minus the signal.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    std::exit(work());  // with the exit handlers: HDF5's must not crash either
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// A limit on the size of files fails the same write calls as a full disk, and needs no rights. Its
// values reach the first bytes, the middle and the very end of the file.
TEST_F(WrittenFile, that_does_not_fit_says_how_far_it_came_and_leaves_nothing) {
  write_file(folder_ / "whole", 30, {}, grid_of(512, 512));
  const std::uint64_t whole = std::filesystem::file_size(folder_ / "whole");
  std::filesystem::remove(folder_ / "whole");
  for (const std::uint64_t limit : {std::uint64_t{100}, whole / 2, whole - 1000}) {
    const int status = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit most{limit, limit};
      setrlimit(RLIMIT_FSIZE, &most);
      try {
        write_file(path_, 30, {}, grid_of(512, 512));
      } catch (const DataError& error) {
        const std::string text = error.what();
        return text.find("File too large") != std::string::npos &&
                       text.find("events.h5") != std::string::npos &&
                       text.find(" bytes and ") != std::string::npos
                   ? 0
                   : 2;
      }
      return 1;
    });
    EXPECT_EQ(status, 0) << "with at most " << limit << " bytes";
    EXPECT_THAT(folder_.names(), IsEmpty());
  }
}

TEST_F(WrittenFile, on_a_full_disk_says_so_and_leaves_nothing) {
  constexpr int kNoRights = 77;
  const int status = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return kNoRights;
    }
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
      return kNoRights;
    }
    try {
      write_file(path_, 30, {}, grid_of(512, 512));
    } catch (const DataError& error) {
      std::cerr << error.what() << '\n';
      const bool clear =
          std::string(error.what()).find("No space left on device") != std::string::npos;
      return clear && folder_.names().empty() ? 0 : 2;
    }
    return 1;
  });
  if (status == kNoRights) {
    GTEST_SKIP() << "needs a user who may mount a small file system";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(WrittenFile, of_a_killed_process_does_not_appear) {
  const int status = in_child([&]() -> int {
    EventFileWriter writer(path_);
    for (std::int64_t number = 0;; ++number) {
      write(writer, some_event(number, grid_of(512, 512)));
      if (number == 20) {
        raise(SIGKILL);
      }
    }
  });
  EXPECT_EQ(status, -SIGKILL);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(WrittenFile, refuses_pixels_that_cannot_be_stored) {
  const auto expect_refused = [&](const auto& spoil, const std::string& text) {
    WrittenEvent event = some_event(5);
    spoil(event.pixels.image[1]);
    EventFileWriter writer(path_);
    writer.begin_event(event.pixels.id);
    EXPECT_THAT([&] { writer.write_sparse("sbndwire", event.pixels.image); },
                ThrowsMessage<DataError>(
                    AllOf(HasSubstr("events.h5: sparse2d_sbndwire_group, event 0 (1/2/5), plane 1"),
                          HasSubstr(text))));
  };
  expect_refused([](SparsePlane& plane) { std::swap(plane.ids[3], plane.ids[4]); }, "ascending");
  expect_refused([](SparsePlane& plane) { plane.ids[3] = plane.ids[4]; }, "unique");
  expect_refused([](SparsePlane& plane) { plane.ids.back() = 6144; },
                 "pixel id 6144 is beyond the grid of 96 x 64");
  expect_refused([](SparsePlane& plane) { plane.values.pop_back(); }, "values");
  expect_refused([](SparsePlane& plane) { plane.meta.projection = 2; }, "projection 2");
  expect_refused([](SparsePlane& plane) { plane.meta.pixels = {96, 0}; }, "96 x 0");
  expect_refused([](SparsePlane& plane) { plane.meta.pixels = {65537, 1}; }, "65537 x 1");
  expect_refused([](SparsePlane& plane) { plane.meta.size[1] = 0; }, "size 0");
  expect_refused([](SparsePlane& plane) { plane.meta.origin[0] = std::nan(""); }, "origin nan");
  expect_refused([](SparsePlane& plane) { plane.values[3] = INFINITY; }, "value inf");
}

TEST_F(WrittenFile, refuses_clusters_that_cannot_be_stored) {
  WrittenEvent event = some_event(5);
  event.clusters[2].clusters[1].ids.back() = 1'000'000;
  EventFileWriter writer(path_);
  writer.begin_event(event.pixels.id);
  EXPECT_THAT([&] { writer.write_clusters("sbndsegmerged", event.clusters); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("cluster2d_sbndsegmerged_group"),
                                             HasSubstr("plane 2"), HasSubstr("1000000"))));
}

TEST_F(WrittenFile, needs_every_product_once_in_every_event) {
  const WrittenEvent event = some_event(0);
  {
    EventFileWriter writer(path_);
    write(writer, event);
    writer.begin_event(event.pixels.id);
    EXPECT_THAT([&] { writer.commit(); },
                ThrowsMessage<InternalError>(AllOf(HasSubstr("sparse2d_sbndwire_group, event 1"),
                                                   HasSubstr("was not written"))));
  }
  {
    EventFileWriter writer(path_);
    write(writer, event);
    EXPECT_THAT([&] { writer.write_sparse("sbndwire", event.pixels.image); },
                ThrowsMessage<InternalError>(HasSubstr("written twice")));
  }
  {
    EventFileWriter writer(path_);
    write(writer, event);
    write(writer, event);
    EXPECT_THAT([&] { writer.write_sparse("late", event.pixels.image); },
                ThrowsMessage<InternalError>(HasSubstr("sparse2d_late_group")));
  }
}

TEST_F(WrittenFile, with_copied_products_is_what_h5py_finds_in_larcv3_files) {
  write_file(folder_ / "input", 12);
  EventFileWriter writer(path_);
  writer.copy_products(folder_ / "input");
  for (std::int64_t number = 0; number < 12; ++number) {
    const WrittenEvent event = some_event(number);
    writer.begin_event(event.pixels.id);
    writer.write_sparse("cosmic_prediction", event.pixels.image);
    writer.write_sparse("neutrino_prediction", event.pixels.image);
  }
  writer.commit();
  if (check_with_h5py(path_, "--like " + (folder_ / "input").string()) == 77) {
    GTEST_SKIP() << "needs h5py (package python3-h5py)";
  }
}

TEST_F(WrittenFile, with_products_of_the_real_sample_is_what_h5py_finds_in_it) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample;
  }
  const std::filesystem::path again = folder_ / "again.h5";
  for (const std::filesystem::path& path : {path_, again}) {
    EventFileWriter writer(path);
    writer.copy_products(kSample);
    for (int event = 0; event < 5; ++event) {
      writer.begin_event({-1, -1, -1});
      writer.write_sparse("cosmic_prediction", some_event(event).pixels.image);
    }
    writer.commit();
  }
  EXPECT_TRUE(read_bytes(path_) == read_bytes(again));
  if (check_with_h5py(path_, std::string("--like ") + kSample) == 77) {
    GTEST_SKIP() << "needs h5py (package python3-h5py)";
  }
}

TEST_F(WrittenFile, with_copied_products_leaves_out_what_it_is_told) {
  write_file(folder_ / "input", 3);
  EventFileWriter writer(path_);
  const ProductName replaced[] = {{"sparse2d", "sbndwire"}};
  writer.copy_products(folder_ / "input", replaced);
  for (std::int64_t number = 0; number < 3; ++number) {
    const WrittenEvent event = some_event(number);
    writer.begin_event(event.pixels.id);
    writer.write_sparse("sbndwire", event.pixels.labels);
  }
  writer.commit();
  EXPECT_EQ(writer.events(), 3);
}

TEST_F(WrittenFile, keeps_the_events_of_copied_products) {
  write_file(folder_ / "input", 2);
  const SparseImage image = some_event(0).pixels.image;
  {
    EventFileWriter writer(path_);
    writer.copy_products(folder_ / "input");
    EXPECT_THAT(
        [&] {
          writer.begin_event({9, 9, 9});
        },
        ThrowsMessage<InternalError>(AllOf(HasSubstr("9/9/9"), HasSubstr("1/2/0"))));
  }
  {
    EventFileWriter writer(path_);
    writer.copy_products(folder_ / "input");
    writer.begin_event({1, 2, 0});
    writer.write_sparse("cosmic_prediction", image);
    EXPECT_THAT([&] { writer.commit(); }, ThrowsMessage<InternalError>(HasSubstr("1 of the 2")));
  }
}

TEST_F(WrittenFile, copies_nothing_from_what_is_not_hdf5) {
  std::ofstream(folder_ / "input") << "text";
  EventFileWriter writer(path_);
  EXPECT_THAT([&] { writer.copy_products(folder_ / "input"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("not an HDF5 file"), HasSubstr("input"))));
  EXPECT_THAT([&] { writer.copy_products(folder_ / "missing"); },
              ThrowsMessage<DataError>(HasSubstr("missing")));
}

}  // namespace
}  // namespace cosmic::data::larcv
