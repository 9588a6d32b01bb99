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
