// `cosmictagger data`, from the command line's words to what is printed.
#include <gmock/gmock.h>

#include <fstream>

#include "cli/commands.hpp"
#include "cli/run_command.hpp"
#include "core/error.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using data::larcv::EventFileWriter;
using data::larcv::some_event;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class DataCommand : public testing::Test {
 protected:
  DataCommand() {
    EventFileWriter writer(path_);
    for (std::int64_t number = 0; number < 12; ++number) {
      write(writer, some_event(number));
    }
    writer.commit();
  }

  /// What `cosmictagger data WORDS...` prints.
  static std::string run(std::vector<std::string> words) {
    words.insert(words.begin(), "data");
    return printed_by([&] { run_command(add_data, words); });
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "events.h5";
};

TEST_F(DataCommand, list_names_products_counts_and_sizes) {
  EXPECT_THAT(run({"list", path_.string()}),
              AllOf(HasSubstr("events.h5: 12 events"), HasSubstr("bbox_neutrino   36 boxes, 3 per event"),
                    HasSubstr("sbndneutrino    66 particles, 5.5 per event"),
                    HasSubstr("sbnd_cosmicseg"), HasSubstr("96 wires x 64 ticks")));
}

TEST_F(DataCommand, list_of_a_missing_file_names_it) {
  EXPECT_THAT(
      [&] {
        run({"list", (folder_ / "nothing.h5").string()});
      },
      ThrowsMessage<DataError>(HasSubstr("nothing.h5")));
}

TEST_F(DataCommand, of_a_pattern_looks_at_every_file_that_matches) {
  std::filesystem::copy(path_, folder_ / "more.h5");
  const std::string pattern = (folder_ / "*.h5").string();
  EXPECT_THAT(run({"list", pattern}),
              AllOf(HasSubstr("events.h5: 12 events"), HasSubstr("more.h5: 12 events")));
  EXPECT_THAT(run({"check", pattern}),
              AllOf(HasSubstr("events.h5: good"), HasSubstr("more.h5: good")));
  const std::string picture = (folder_ / "event.png").string();
  run({"show", pattern, "--event", "23", "--output", picture});
  EXPECT_TRUE(std::filesystem::exists(picture));
  EXPECT_THAT(([&] {
                run({"show", pattern, "--event", "24"});
              }),
              ThrowsMessage<UserError>(AllOf(HasSubstr("no event 24"), HasSubstr("it has 24"))));
  EXPECT_THAT(([&] {
                run({"list", (folder_ / "none*.h5").string()});
              }),
              ThrowsMessage<UserError>(HasSubstr("none*.h5")));
}

TEST_F(DataCommand, check_of_a_good_file_says_so) {
  EXPECT_THAT(run({"check", path_.string(), "--threads", "2"}),
              AllOf(HasSubstr("events.h5: good"), HasSubstr("plane 2"), HasSubstr("neutrino"),
                    HasSubstr("fingerprint "), Not(HasSubstr("WRONG"))));
}

TEST_F(DataCommand, check_counts_the_files_that_are_not_good) {
  const std::filesystem::path text = folder_ / "text.h5";
  std::ofstream(text) << "not HDF5";
  EXPECT_THAT(
      [&] {
        run({"check", path_.string(), text.string()});
      },
      ThrowsMessage<DataError>(HasSubstr("1 of 2 files are damaged")));
}

TEST_F(DataCommand, check_lets_an_odd_file_pass_only_if_told_to) {
  // A label without its pixel, as a program that thins out images leaves it.
  const std::filesystem::path odd = folder_ / "odd.h5";
  EventFileWriter writer(odd);
  data::larcv::WrittenEvent event = some_event(0);
  event.pixels.image[0].ids.pop_back();
  event.pixels.image[0].values.pop_back();
  write(writer, event);
  writer.commit();
  EXPECT_THAT(
      [&] {
        run({"check", odd.string()});
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("1 of 1 files are odd"), HasSubstr("accept-odd"))));
  EXPECT_THAT(run({"check", odd.string(), "--accept-odd"}),
              AllOf(HasSubstr("odd.h5: odd"), HasSubstr("ODD"), Not(HasSubstr("WRONG"))));
}

TEST_F(DataCommand, check_tells_the_product_it_did_not_find) {
  const std::vector<std::string> words{"data", "check", path_.string(), "--image", "elsewhere"};
  EXPECT_THAT(printed_by([&] { EXPECT_THROW(run_command(add_data, words), DataError); }),
              AllOf(HasSubstr("NOT good"), HasSubstr("WRONG"), HasSubstr("elsewhere"),
                    HasSubstr("sbndwire")));
}

TEST_F(DataCommand, show_writes_a_picture_where_it_is_told) {
  const std::filesystem::path picture = folder_ / "event.png";
  EXPECT_THAT(run({"show", path_.string(), "--event", "3", "--output", picture.string()}),
              HasSubstr("event.png"));
  EXPECT_GT(std::filesystem::file_size(picture), 1000U);
}

TEST_F(DataCommand, show_and_check_refuse_a_charge_of_3e38) {
  const std::filesystem::path huge = folder_ / "huge.h5";
  EventFileWriter writer(huge);
  data::larcv::WrittenEvent event = some_event(0);
  event.pixels.image[2].values[4] = 3e38F;
  write(writer, event);
  writer.commit();
  const std::string place = "huge.h5: sparse2d_sbndwire, event 0, plane 2: id ";
  EXPECT_THAT(([&] {
                run({"show", huge.string(), "--output", (folder_ / "event.png").string()});
              }),
              ThrowsMessage<DataError>(AllOf(HasSubstr(place), HasSubstr("3e+38"))));
  const std::vector<std::string> words{"data", "check", huge.string()};
  EXPECT_THAT(printed_by([&] { EXPECT_THROW(run_command(add_data, words), DataError); }),
              AllOf(HasSubstr("WRONG"), HasSubstr(place), HasSubstr("3e+38"), HasSubstr("65504")));
}

TEST_F(DataCommand, show_of_an_event_beyond_the_last_says_how_many_there_are) {
  EXPECT_THAT(
      [&] {
        run({"show", path_.string(), "--event", "12"});
      },
      ThrowsMessage<UserError>(AllOf(HasSubstr("no event 12"), HasSubstr("it has 12"))));
}

TEST_F(DataCommand, refuses_what_it_does_not_know) {
  EXPECT_THROW(run({}), UsageError);
  EXPECT_THROW(run({"check"}), UsageError);
  EXPECT_THROW(run({"show", path_.string(), "--event", "-1"}), UsageError);
  EXPECT_THROW(run({"check", path_.string(), "--threads", "many"}), UsageError);
}

}  // namespace
}  // namespace cosmic::cli
