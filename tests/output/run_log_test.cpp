#include "output/run_log.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>

#include "scratch_folder.hpp"

namespace cosmic::output {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

/// Local time is UTC while it lives.
class InUtc {
 public:
  InUtc() {
    if (const char* zone = std::getenv("TZ")) {
      before_ = zone;
    }
    setenv("TZ", "UTC", 1);
    tzset();
  }
  ~InUtc() {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }
  InUtc(const InUtc&) = delete;
  InUtc& operator=(const InUtc&) = delete;

 private:
  std::string before_;
};

TEST(LogLine, has_the_format_of_the_reference) {
  const InUtc utc;
  using namespace std::chrono;
  const system_clock::time_point time{seconds(1714567805) + milliseconds(7)};
  EXPECT_EQ(log_line(time, LogLevel::info, "Larcv file prepared"),
            "2024-05-01 12:50:05,007 - INFO - Larcv file prepared");
  EXPECT_EQ(log_line(time, LogLevel::warning, "careful"),
            "2024-05-01 12:50:05,007 - WARNING - careful");
  EXPECT_EQ(log_line(time, LogLevel::error, "over"), "2024-05-01 12:50:05,007 - ERROR - over");
}

TEST(RunLog, shows_each_line_and_keeps_it) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "output" / "process.log";
  std::vector<std::string> shown;
  RunLog log(file, [&](const std::string& line) { shown.push_back(line); });
  log.info("first");
  EXPECT_THAT(content_of(file), MatchesRegex("[0-9-]{10} [0-9:]{8},[0-9]{3} - INFO - first\n"));
  log.warning("second");
  EXPECT_THAT(
      shown, ElementsAre(MatchesRegex(".* - INFO - first"), MatchesRegex(".* - WARNING - second")));
  EXPECT_EQ(content_of(file), shown[0] + "\n" + shown[1] + "\n");
}

TEST(RunLog, adds_to_the_log_of_an_earlier_run) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "process.log";
  for (const char* run : {"one", "two"}) {
    RunLog(file, [](const std::string&) {}).info(run);
  }
  EXPECT_THAT(content_of(file), MatchesRegex(".* - INFO - one\n.* - INFO - two\n"));
}

TEST(RunLog, of_a_command_that_is_refused_leaves_no_trace) {
  const ScratchFolder folder;
  std::vector<std::string> shown;
  const auto console = [&](const std::string& line) { shown.push_back(line); };
  const std::filesystem::path file = folder / "output" / "process.log";
  {
    RunLog log(file, console, RunLog::Opening::later);
    log.info("refused");
  }
  EXPECT_THAT(folder.names(), testing::IsEmpty());
  RunLog log(file, console, RunLog::Opening::later);
  log.info("checked");
  log.open();
  log.info("begun");
  log.open();
  EXPECT_THAT(shown, testing::SizeIs(3));
  EXPECT_THAT(content_of(file), MatchesRegex(".* - INFO - checked\n.* - INFO - begun\n"));
}

TEST(RunLog, spares_the_console_routine_lines_and_the_file_none) {
  const ScratchFolder folder;
  std::vector<std::string> shown;
  RunLog log(folder / "process.log", [&](const std::string& line) { shown.push_back(line); });
  log.set_console_pause(3600);
  for (const char* line : {"step 1", "step 2", "step 3"}) {
    log.routine(line);
  }
  EXPECT_THAT(shown, ElementsAre(MatchesRegex(".* - INFO - step 1")));
  log.warning("odd");
  EXPECT_THAT(shown, ElementsAre(MatchesRegex(".*step 1"), MatchesRegex(".*step 3"),
                                 MatchesRegex(".* - WARNING - odd")))
      << "the last routine line is seen";
  EXPECT_THAT(content_of(folder / "process.log"),
              MatchesRegex(".*step 1\n.*step 2\n.*step 3\n.*odd\n"));
}

TEST(RunLog, without_a_pause_shows_every_routine_line) {
  std::vector<std::string> shown;
  RunLog log({}, [&](const std::string& line) { shown.push_back(line); });
  log.routine("one");
  log.routine("two");
  EXPECT_THAT(shown, testing::SizeIs(2));
}

TEST(RunLog, without_a_file_prints_to_standard_output) {
  testing::internal::CaptureStdout();
  RunLog().info("hello");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), MatchesRegex(".* - INFO - hello\n"));
}

TEST(RunLog, whose_file_is_full_goes_on_and_says_so_once_on_the_console) {
  std::vector<std::string> shown;
  RunLog log("/dev/full", [&](const std::string& line) { shown.push_back(line); });
  log.info("first");
  log.info("second");
  EXPECT_THAT(shown, ElementsAre(MatchesRegex(".* - INFO - first"),
                                 MatchesRegex(".* - WARNING - The log is not complete from here "
                                              "on.*No space left on device.*"),
                                 MatchesRegex(".* - INFO - second")));
}

}  // namespace
}  // namespace cosmic::output
