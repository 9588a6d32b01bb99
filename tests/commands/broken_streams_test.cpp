// Nobody can see what the program prints: a closed pipe, a full disk behind standard output, a
// terminal that is gone. A training goes on, since its results are files; a command that prints its
// results has failed.
#include <gmock/gmock.h>

#include "commands/trained_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kFileFailed = 3;

class BrokenStreams : public testing::Test {
 protected:
  /// The run is complete, with the bits of one whose terminal was there.
  void expect_trained(const std::string& output) const {
    const CommandResult compared =
        folder_.run("checkpoint diff --weights trained/checkpoints " + output + "/checkpoints");
    EXPECT_EQ(compared.status, 0) << compared.output;
  }
  std::string log_of(const std::string& output) const {
    return content_of(folder_ / (output + "/process.log"));
  }

  TrainedFolder folder_;
};

TEST_F(BrokenStreams, a_training_whose_reader_leaves_goes_on_to_its_end) {
  const CommandResult result = folder_.shell("{ " + std::string(COSMICTAGGER_PROGRAM) + " " +
                                             TrainedFolder::training("out") +
                                             " 2>/dev/null; echo $? >status; } | head -n 1");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(content_of(folder_ / "status"), "0\n") << result.output;
  expect_trained("out");
}

TEST_F(BrokenStreams, a_training_goes_on_when_its_terminal_cannot_be_written_and_the_log_says_so) {
  int number = 0;
  for (const char* const streams :
       {">/dev/full", ">/dev/full 2>/dev/full", "2>/dev/full", ">&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const std::string output = "out" + std::to_string(number++);
    const CommandResult result = folder_.run(TrainedFolder::training(output) + " " + streams);
    EXPECT_EQ(result.status, 0) << streams << "\n" << result.output;
    expect_trained(output);
    EXPECT_THAT(log_of(output), HasSubstr("can no longer be written")) << streams;
  }
}

TEST_F(BrokenStreams, a_closed_stream_does_not_lend_its_number_to_a_file_of_the_run) {
  folder_.run(TrainedFolder::training("out") + " >&- 2>&-");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
    if (entry.is_regular_file() && entry.path().filename() != "process.log") {
      EXPECT_THAT(content_of(entry.path()), Not(HasSubstr("Running Training"))) << entry.path();
    }
  }
  expect_trained("out");
}

TEST_F(BrokenStreams, a_training_whose_log_is_full_goes_on_and_says_so_on_the_terminal) {
  std::filesystem::create_directories(folder_ / "out");
  std::ofstream(folder_ / "out/process.log") << std::string(1 << 20, '\n');
  // The log is at the limit for the size of a file; no other file of this run comes near it.
  const CommandResult result = folder_.run(TrainedFolder::training("out"), "ulimit -f 1024 && ");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("The log is not complete from here on"));
  expect_trained("out");
}

TEST_F(BrokenStreams, tagging_goes_on_when_its_terminal_cannot_be_written) {
  const CommandResult result =
      folder_.run(TrainedFolder::tagging("out") + " >/dev/full 2>/dev/full");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(log_of("out"), HasSubstr("can no longer be written"));
}

TEST_F(BrokenStreams, results_that_do_not_get_out_are_an_error) {
  for (const char* const words :
       {"config run.id=1", "config --markdown", "--help", "train --help", "--version", "targets",
        "data list events.h5", "data check events.h5", "checkpoint show trained/checkpoints",
        "graph a21 --rows 64 --columns 64", "monitor --once", "explain"}) {
    const CommandResult full = folder_.run(std::string(words) + " >/dev/full");
    EXPECT_EQ(full.status, kFileFailed) << words << "\n" << full.output;
    EXPECT_THAT(full.output,
                AllOf(HasSubstr("standard output could not be written (No space left on device)"),
                      Not(HasSubstr("a bug"))))
        << words;
    const CommandResult closed = folder_.run(std::string(words) + " >&-");
    EXPECT_EQ(closed.status, kFileFailed) << words << "\n" << closed.output;
    EXPECT_THAT(closed.output, HasSubstr("standard output could not be written")) << words;
  }
}

TEST_F(BrokenStreams, a_reader_that_leaves_hears_nothing_more) {
  const CommandResult result = folder_.shell("{ " + std::string(COSMICTAGGER_PROGRAM) +
                                             " config --markdown; echo $? >status; } | head -n 1");
  EXPECT_THAT(content_of(folder_ / "status"), AnyOf("0\n", "3\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("error")));
}

TEST_F(BrokenStreams, a_full_disk_ends_a_training_with_a_reason_and_it_goes_on_when_there_is_room) {
  // A checkpoint does not fit; what was there before stays.
  const CommandResult full = folder_.run(TrainedFolder::training("out"), "ulimit -f 8 && ");
  EXPECT_EQ(full.status, kFileFailed) << full.output;
  EXPECT_THAT(full.output, HasSubstr("File too large"));
  EXPECT_EQ(folder_.run(TrainedFolder::training("out")).status, 0);
  expect_trained("out");
}

}  // namespace
}  // namespace cosmic
