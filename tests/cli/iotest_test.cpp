// `cosmictagger iotest`, from the command line's words to what is printed.
#include "run/iotest.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class IoTest : public testing::Test {
 protected:
  void SetUp() override {
    const run::IoTestOptions products;
    data::larcv::EventFileWriter writer(path_);
    for (std::int64_t number = 0; number < 5; ++number) {
      const data::SparseEvent event = data::random_event(data::grid_of(32, 64), 0.05, 1, number);
      writer.begin_event(event.id);
      writer.write_sparse(products.image_producer, event.image);
      writer.write_sparse(products.label_producer, event.labels);
    }
    writer.commit();
  }

  /// What `cosmictagger iotest FILE WORDS...` prints.
  std::string run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"iotest", path_.string()});
    return printed_by([&] { run_command(add_iotest, words); });
  }

  ScratchFolder folder_{"iotest"};
  std::filesystem::path path_ = folder_ / "events.h5";
};

TEST_F(IoTest, says_how_fast_and_where_the_time_goes) {
  EXPECT_THAT(run({"--events", "20", "--batch", "4"}),
              AllOf(HasSubstr("20 events"), HasSubstr("random_blocks, 4 per batch"),
                    HasSubstr("3 x 16 x 32 pixels"), HasSubstr("events/s"), HasSubstr("inflating"),
                    HasSubstr("MB peak")));
}

TEST_F(IoTest, reads_lists_and_patterns_of_files) {
  std::filesystem::copy(path_, folder_ / "more.h5");
  const auto entries = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "iotest");
    return nlohmann::json::parse(printed_by([&] { run_command(add_iotest, words); })).at("entries");
  };
  EXPECT_EQ(entries({(folder_ / "*.h5").string(), "--events", "5", "--json"}), 10);
  EXPECT_EQ(entries({"run.id=1", "run.iterations=2", "data.file=[more.h5,events.h5]", "--json",
                     "data.data_directory=" + folder_.path().string()}),
            10);
  EXPECT_THAT(([&] {
                entries({"run.id=1", "data.file=[events.h5,gone.h5]",
                         "data.data_directory=" + folder_.path().string()});
              }),
              ThrowsMessage<DataError>(HasSubstr("gone.h5")));
  EXPECT_THAT(([&] {
                entries({"run.id=1", "data=synthetic"});
              }),
              ThrowsMessage<UserError>(HasSubstr("no files to read")));
}

TEST_F(IoTest, prints_json_for_programs) {
  const auto report =
      nlohmann::json::parse(run({"--events", "7", "--batch", "2", "--threads", "1", "--order",
                                 "shuffled", "--downsample", "0", "--flips", "--json"}));
  EXPECT_EQ(report.at("entries"), 5);
  EXPECT_EQ(report.at("events"), 8);  // whole batches
  EXPECT_EQ(report.at("order"), "shuffled");
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("warnings"), 0);
  for (const char* measured : {"seconds", "events_per_second", "megabytes_per_second",
                               "reading_ms_per_event", "converting_ms_per_event",
                               "threads_busy_share", "waiting_share", "peak_memory_megabytes"}) {
    EXPECT_GT(report.at(measured).get<double>(), 0) << measured;
  }
}

TEST_F(IoTest, says_how_fast_pixels_are_handed_over_and_how_much_that_is) {
  EXPECT_THAT(run({"--events", "8"}),
              AllOf(HasSubstr("Handed    as images"), HasSubstr("; as pixels ")));
  const auto report = nlohmann::json::parse(run({"--events", "8", "--json", "--downsample", "0"}));
  // 3 x 32 x 64 pixels, a float and a byte each, of which one in twenty is stored.
  EXPECT_DOUBLE_EQ(report.at("megabytes_per_event").get<double>(), 1e-6 * 3 * 32 * 64 * 5);
  EXPECT_NEAR(report.at("pixels_megabytes_per_event").get<double>(),
              1e-6 * 3 * 32 * 64 * 0.05 * (8 + 5 * 2.0 / 3), 1e-3);
  EXPECT_GT(report.at("pixels_events_per_second").get<double>(), 0);
  EXPECT_GT(report.at("pixels_converting_ms_per_event").get<double>(), 0);
}

TEST_F(IoTest, makes_events_with_the_detector) {
  const auto printed = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"iotest", "run.id=1", "data=detector", "run.iterations=2",
                                 "run.minibatch_size=2", "data.downsample=4"});
    return printed_by([&] { run_command(add_iotest, words); });
  };
  EXPECT_THAT(printed({}), AllOf(HasSubstr("Made"), HasSubstr("4 events"),
                                 HasSubstr("the simulated detector"), HasSubstr("ms making")));
  const auto report = nlohmann::json::parse(printed({"--json", "data.threads=2"}));
  EXPECT_TRUE(report.at("entries").is_null()) << "there is no end";
  EXPECT_EQ(report.at("events"), 4);
  EXPECT_EQ(report.at("threads"), 2);
}

TEST_F(IoTest, refuses_a_charge_of_3e38_and_a_file_without_a_single_pixel) {
  const auto error_of = [&](const auto& change) {
    const std::filesystem::path path = folder_ / "odd.h5";
    data::larcv::EventFileWriter writer(path, {.existing = Existing::replace});
    data::SparseEvent event = data::random_event(data::grid_of(32, 64), 0.05, 1, 0);
    change(event);
    writer.begin_event(event.id);
    writer.write_sparse("sbndwire", event.image);
    writer.write_sparse("sbnd_cosmicseg", event.labels);
    writer.commit();
    try {
      printed_by([&] {
        run_command(add_iotest, {"iotest", path.string(), "--events", "1", "--batch", "1"});
      });
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(
      error_of([](data::SparseEvent& event) { event.image[0].values[0] = 3e38F; }),
      AllOf(HasSubstr("odd.h5: sparse2d_sbndwire, event 0, plane 0: id "), HasSubstr("3e+38")));
  EXPECT_THAT(error_of([](data::SparseEvent& event) {
                for (data::SparsePlane& plane : event.image) {
                  plane.ids.clear();
                  plane.values.clear();
                }
              }),
              HasSubstr("odd.h5: the 1 events that were read have no pixel"));
}

TEST_F(IoTest, refuses_what_the_file_cannot_give) {
  EXPECT_THAT(
      [&] {
        run({"--batch", "6"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("6 events"), HasSubstr("source of 5"))));
  EXPECT_THAT([&] { run({"--order", "sorted"}); }, ThrowsMessage<UserError>(HasSubstr("sorted")));
  EXPECT_THAT(
      [&] {
        run({"--order", "serial_access", "--start-index", "5"});
      },
      ThrowsMessage<UserError>(HasSubstr("start_index is 5")));
  EXPECT_THAT(
      [&] {
        run({"--downsample", "6"});
      },
      ThrowsMessage<UserError>(HasSubstr("downsample is 6")));
  EXPECT_THAT([&] { run({"--image", "nothing"}); }, ThrowsMessage<DataError>(HasSubstr("nothing")));
}

}  // namespace
}  // namespace cosmic::cli
