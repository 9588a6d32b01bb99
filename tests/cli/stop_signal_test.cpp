// A training that is asked to stop, by Ctrl-C or by a batch system: it ends in good order, says so,
// and goes on later as if it had not stopped.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "checkpoint/checkpoint_folder.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/exit_status.hpp"
#include "cli/stop_signal.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/sparse_events.hpp"
#include "scratch_folder.hpp"

namespace cosmic::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A test that waits for longer has failed.
constexpr auto kPatience = std::chrono::seconds(120);

constexpr std::int64_t kForever = 1'000'000;

class TrainingProcess : public testing::Test {
 protected:
  TrainingProcess() {
    setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);  // where jobs show themselves
    data::larcv::EventFileWriter writer(folder_ / "events.h5");
    for (std::int64_t number = 0; number < 5; ++number) {
      const data::SparseEvent event = data::random_event(data::grid_of(8, 16), 0.3, 1, number);
      writer.begin_event(event.id);
      writer.write_sparse("sbndwire", event.image);
      writer.write_sparse("sbnd_cosmicseg", event.labels);
    }
    writer.commit();
  }
  ~TrainingProcess() override {
    if (training_ > 0) {
      kill(training_, SIGKILL);
      waitpid(training_, nullptr, 0);
    }
  }

  /// `cosmictagger train` in a process of its own, up to a number of updates.
  void start(const std::string& id, std::int64_t updates) {
    training_ = fork();
    if (training_ != 0) {
      return;
    }
    const int file =
        open((folder_ / (id + ".printed")).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    std::vector<std::string> words{"train",
                                   "network=a21",
                                   "network.depth=1",
                                   "network.n_initial_filters=2",
                                   "network.bottleneck_deepest=4",
                                   "network.blocks_deepest_layer=1",
                                   "network.blocks_per_layer=1",
                                   "run.id=asked",
                                   "run.distributed=false",
                                   "run.minibatch_size=2",
                                   "run.threads=1",
                                   "run.seed=3",
                                   "run.units=iteration",
                                   "run.length=" + std::to_string(updates),
                                   "run.aux_iterations=3",
                                   "mode.checkpoint_iteration=" + std::to_string(kForever),
                                   "data.downsample=0",
                                   "data.order=shuffled",
                                   "data.file=events.h5",
                                   "data.aux_file=events.h5",
                                   "data.data_directory=" + folder_.path().string(),
                                   "output_dir=" + (folder_ / id).string()};
    words.insert(words.end(), more_.begin(), more_.end());
    for (const KnownSignal& signal : kStopSignals) {
      std::signal(signal.number, signal.number == ignored_ ? SIG_IGN : SIG_DFL);
    }
    Command app;
    add_train(app);
    int status = 0;
    try {
      app.parse(words);
    } catch (const ExitStatus& ended) {
      status = ended.status();
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      status = 1;
    }
    std::cout.flush();
    std::fflush(nullptr);
    _exit(status);
  }

  /// The exit status, or minus the signal that ended it.
  int wait_for_end() {
    int status = 0;
    waitpid(training_, &status, 0);
    training_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  /// Rows of the metrics, which are updates made.
  std::int64_t updates(const std::string& id) const {
    const std::string table = content_of(folder_ / id / "train_metrics.csv");
    return std::max<std::int64_t>(std::count(table.begin(), table.end(), '\n') - 1, 0);
  }

  bool wait_for_updates(const std::string& id, std::int64_t wanted) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (updates(id) < wanted && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return updates(id) >= wanted;
  }

  checkpoint::Checkpoint newest(const std::string& id) const {
    return checkpoint::load_newest(folder_ / id / "checkpoints").checkpoint;
  }
  std::map<std::string, std::vector<std::byte>> bits(const std::string& id) const {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& [name, tensor] : newest(id).tensors) {
      result[name] = tensor.bytes;
    }
    return result;
  }

  /// What files are called before they are whole, anywhere below the folder of the test.
  std::vector<std::string> unfinished_files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".partial-") != std::string::npos || name.ends_with(".tmp")) {
        names.push_back(entry.path().string());
      }
    }
    return names;
  }

  std::string printed(const std::string& id) const {
    return content_of(folder_ / (id + ".printed"));
  }

  ScratchFolder folder_{"stop_signal"};
  pid_t training_ = 0;
  std::vector<std::string> more_;  // settings
  int ignored_ = 0;                // a signal that the training finds ignored, as under `nohup`
};

class StoppedTraining : public TrainingProcess, public testing::WithParamInterface<int> {};

std::string name_of(int number) {
  return std::string(
      std::find_if(kStopSignals.begin(), kStopSignals.end(), [&](const KnownSignal& one) {
        return one.number == number;
      })->name);
}

INSTANTIATE_TEST_SUITE_P(By, StoppedTraining,
                         testing::Values(SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU,
                                         SIGXFSZ),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(StoppedTraining, keeps_every_update_and_says_where_and_how_to_go_on) {
  start("asked", kForever);
  ASSERT_TRUE(wait_for_updates("asked", 4)) << printed("asked");
  kill(training_, GetParam());
  EXPECT_EQ(wait_for_end(), kStopped) << printed("asked");

  const std::int64_t made = updates("asked");
  EXPECT_GE(made, 4);
  EXPECT_LT(made, kForever);
  const checkpoint::LoadedCheckpoint kept =
      checkpoint::load_newest(folder_ / "asked" / "checkpoints");
  EXPECT_EQ(kept.checkpoint.step, made);
  EXPECT_THAT(kept.warnings, IsEmpty());
  EXPECT_THAT(printed("asked"),
              AllOf(HasSubstr("stopped as requested by " + name_of(GetParam())),
                    HasSubstr(std::to_string(made) + " steps"), HasSubstr(kept.file.string()),
                    HasSubstr("same command"), Not(HasSubstr("complete"))));
  EXPECT_THAT(content_of(folder_ / "asked" / "process.log"),
              AllOf(HasSubstr("Received " + name_of(GetParam())),
                    HasSubstr("top after step " + std::to_string(made - 1))));
  EXPECT_THAT(unfinished_files(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "cosmictagger"));  // it no longer shows itself
}

TEST_P(StoppedTraining, goes_on_with_the_bits_of_one_that_was_left_alone) {
  start("asked", kForever);
  ASSERT_TRUE(wait_for_updates("asked", 4)) << printed("asked");
  kill(training_, GetParam());
  ASSERT_EQ(wait_for_end(), kStopped) << printed("asked");
  const std::int64_t more = newest("asked").step + 7;

  start("asked", more);
  ASSERT_EQ(wait_for_end(), 0) << printed("asked");
  start("alone", more);
  ASSERT_EQ(wait_for_end(), 0) << printed("alone");
  EXPECT_EQ(newest("asked").step, more);
  EXPECT_EQ(bits("asked"), bits("alone"));
  EXPECT_EQ(updates("asked"), more);
  EXPECT_THAT(unfinished_files(), IsEmpty());
}

TEST_F(TrainingProcess, that_gets_a_signal_itself_and_by_its_group_keeps_every_update) {
  start("asked", kForever);
  ASSERT_TRUE(wait_for_updates("asked", 4)) << printed("asked");
  kill(training_, SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(training_, SIGTERM);
  EXPECT_EQ(wait_for_end(), kStopped) << printed("asked");
  EXPECT_EQ(newest("asked").step, updates("asked"));
}

TEST_F(TrainingProcess, that_is_stopped_writes_a_checkpoint_even_if_none_was_wanted_at_the_end) {
  more_ = {"mode.final_checkpoint=false"};
  start("asked", kForever);
  ASSERT_TRUE(wait_for_updates("asked", 4)) << printed("asked");
  kill(training_, SIGTERM);
  EXPECT_EQ(wait_for_end(), kStopped) << printed("asked");
  EXPECT_EQ(newest("asked").step, updates("asked"));
}

TEST_F(TrainingProcess, has_the_status_of_a_stopped_one_at_its_time_limit) {
  more_ = {"run.max_time=0.3s"};
  start("asked", kForever);
  EXPECT_EQ(wait_for_end(), kStopped) << printed("asked");
  EXPECT_THAT(printed("asked"), HasSubstr("time limit"));
  EXPECT_EQ(newest("asked").step, updates("asked"));
}

TEST_F(TrainingProcess, does_not_hear_a_hangup_that_was_ignored_when_it_began) {
  ignored_ = SIGHUP;
  start("asked", kForever);
  ASSERT_TRUE(wait_for_updates("asked", 2)) << printed("asked");
  kill(training_, SIGHUP);
  ASSERT_TRUE(wait_for_updates("asked", updates("asked") + 4)) << printed("asked");
  kill(training_, SIGTERM);
  EXPECT_EQ(wait_for_end(), kStopped);
  EXPECT_THAT(printed("asked"), AllOf(HasSubstr("SIGTERM"), Not(HasSubstr("SIGHUP"))));
}

/// How a process ends that gets the signal twice while it listens: minus the signal, or 3.
int end_after_two(int number, std::chrono::milliseconds apart = {}) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignal stop;
    raise(number);
    if (!stop.requested() || stop.name() != name_of(number)) {
      _exit(1);
    }
    std::this_thread::sleep_for(apart);
    raise(number);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class SecondSignal : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(By, SecondSignal, testing::Values(SIGTERM, SIGINT),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(SecondSignal, ends_the_program_at_once) {
  EXPECT_EQ(end_after_two(GetParam(), std::chrono::milliseconds(1100)), -GetParam());
}

// `timeout` sends its signal to the process and then to the group that it is in.
TEST_P(SecondSignal, is_the_same_one_if_it_comes_within_a_second) {
  EXPECT_EQ(end_after_two(GetParam()), 3);
}

class RepeatedSignal : public testing::TestWithParam<int> {};

// A batch system sends SIGXCPU every second, and a terminal that closes SIGHUP more than once.
INSTANTIATE_TEST_SUITE_P(By, RepeatedSignal, testing::Values(SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(RepeatedSignal, does_not_end_a_program_that_is_writing_its_checkpoint) {
  EXPECT_EQ(end_after_two(GetParam()), 3);
}

/// How a process ends that gets SIGTERM when nothing listens any more: minus the signal, or 3.
enum class Listens { while_it_lives, to_the_end };
int end_after_a_late_one(Listens listens) {
  const pid_t child = fork();
  if (child == 0) {
    {
      StopSignal stop;
      if (listens == Listens::to_the_end) {
        stop.listen_to_the_end();
      }
    }
    raise(SIGTERM);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Of several processes that were asked to stop, one may be asked when all of them have stopped.
TEST(LateSignal, ends_no_program_that_ends_as_it_was_asked_to) {
  EXPECT_EQ(end_after_a_late_one(Listens::while_it_lives), -SIGTERM);
  EXPECT_EQ(end_after_a_late_one(Listens::to_the_end), 3);
}

TEST(FileSizeLimit, fails_the_write_and_stops_nothing) {
  const ScratchFolder folder("file_size_limit");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{4, 4};
    setrlimit(RLIMIT_FSIZE, &limit);
    const StopSignal stop;
    const int file = open((folder / "full").c_str(), O_WRONLY | O_CREAT, 0600);
    const bool first = write(file, "1234", 4) == 4;
    const bool refused = write(file, "5", 1) == -1 && errno == EFBIG;
    const bool again = write(file, "5", 1) == -1 && errno == EFBIG;
    _exit(first && refused && again && !stop.requested() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace cosmic::cli
