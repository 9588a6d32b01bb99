// A run's folder while it is trained in, after its training was killed, and after one that was
// refused: by the program itself, in processes of its own.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "commands/work_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;

constexpr int kRefused = 2;

class LockedRun : public testing::Test {
 protected:
  LockedRun() { folder_.make_events("events.h5"); }

  static std::string training(const std::string& more) {
    return "train data.file=events.h5 data.aux_file= output_dir=run run.seed=1 "
           "mode.checkpoint_iteration=1 " +
           kTinySettings + more;
  }
  BackgroundProgram start_long_training() const {
    return folder_.start(training(" run.units=iteration run.length=1000000"));
  }

  /// The steps of the rows that have been written whole.
  std::vector<int> steps() const {
    std::istringstream table(content_of(folder_ / "run/train_metrics.csv"));
    std::vector<int> steps;
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line) && !table.eof()) {
      steps.push_back(std::stoi(line));
    }
    return steps;
  }
  bool wait_for_steps(std::size_t count) const {
    return comes_true([&] { return steps().size() >= count; });
  }

  WorkFolder folder_;
};

TEST_F(LockedRun, refuses_a_second_training_and_says_who_holds_it) {
  BackgroundProgram first = start_long_training();
  ASSERT_TRUE(wait_for_steps(3)) << folder_.printed();
  const std::string settings = content_of(folder_ / "run/config.yaml");
  const Ended second = folder_.run(training(" run.units=iteration run.length=2"));
  EXPECT_EQ(second.status, kRefused) << second.output;
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_THAT(second.output, AllOf(HasSubstr("another training is running there"),
                                   HasSubstr("host " + std::string(host)),
                                   HasSubstr("process " + std::to_string(first.number())),
                                   HasSubstr("since 20"), HasSubstr("output_dir")));
  EXPECT_EQ(content_of(folder_ / "run/config.yaml"), settings);
  const std::size_t before = steps().size();
  ASSERT_TRUE(wait_for_steps(before + 2)) << "the first training has been stopped";
  first.end(SIGTERM);

  std::vector<int> expected(steps().size());
  std::generate(expected.begin(), expected.end(), [n = 0]() mutable { return n++; });
  EXPECT_EQ(steps(), expected);
  EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/run.lock"));
}

TEST_F(LockedRun, is_taken_over_from_a_killed_training_and_the_log_says_so) {
  BackgroundProgram first = start_long_training();
  ASSERT_TRUE(wait_for_steps(2)) << folder_.printed();
  const std::string killed = "process " + std::to_string(first.number());
  first.end(SIGKILL);
  EXPECT_THAT(content_of(folder_ / "run/run.lock"), HasSubstr(killed));

  const Ended second = folder_.run(training(" run.iterations=1"));
  EXPECT_EQ(second.status, 0) << second.output;
  EXPECT_THAT(content_of(folder_ / "run/process.log"),
              AllOf(HasSubstr("locked by a process that no longer runs"), HasSubstr(killed),
                    HasSubstr("taken over")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/run.lock"));

  const Ended third = folder_.run(training(" run.iterations=2"));
  EXPECT_EQ(third.status, 0) << third.output;
  EXPECT_THAT(third.output, Not(HasSubstr("taken over")));
}

TEST_F(LockedRun, loses_what_a_killed_training_has_not_finished) {
  folder_.train("run");
  for (const char* const name : {"run/.config.yaml.partial-1", "run/.train_metrics.csv.partial-2",
                                 "run/profiles/.timeline.json.partial-3"}) {
    std::ofstream(folder_ / name) << "half";
  }
  EXPECT_EQ(folder_.run(training(" run.iterations=3")).status, 0);
  EXPECT_THAT(folder_.unfinished_files(), IsEmpty());
}

TEST_F(LockedRun, is_read_by_others_while_it_is_trained) {
  BackgroundProgram first = start_long_training();
  ASSERT_TRUE(wait_for_steps(3)) << folder_.printed();
  for (const std::string words : {"checkpoint show run/checkpoints", "monitor --json",
                                  "evaluate data.file=events.h5 output_dir=run",
                                  "infer data.file=events.h5 output_dir=run"}) {
    const Ended reader = folder_.run(
        words + (words.starts_with("e") || words.starts_with("i") ? kTinySettings : std::string()));
    EXPECT_EQ(reader.status, 0) << words << "\n" << reader.output;
  }
}

class RefusedResume : public LockedRun, public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Because, RefusedResume,
                         testing::Values("network.n_initial_filters=3", "data.file=other.h5",
                                         "data.file=missing.h5", "run.compute_mode=IPU",
                                         "mode.optimizer.name=rmsprop"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST_P(RefusedResume, leaves_every_file_of_the_run_as_it_was) {
  const Ended other = folder_.run("generate --events 3 --seed 2 --output other.h5");
  ASSERT_EQ(other.status, 0) << other.output;
  ASSERT_EQ(folder_.run(training(" run.iterations=2")).status, 0);
  const auto before = folder_.content();
  ASSERT_THAT(before, Contains(Key("run/config.yaml")));
  const Ended refused = folder_.run(training(" run.iterations=4 " + GetParam()));
  EXPECT_THAT(refused.status, AnyOf(2, 3)) << refused.output;
  EXPECT_EQ(folder_.content(), before) << refused.output;
}

}  // namespace
}  // namespace cosmic
