// Processes that a launcher has started together and that are not alike: other settings, other
// files of events, or one that is alive and does not come.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "commands/mpirun.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProcessesThatDiffer : public Mpirun {
 protected:
  /// A process for each of the lines of words, in a folder of its own.
  struct Process {
    std::string folder;
    std::string words;
  };
  Ended mpirun_of(const std::vector<Process>& processes) const {
    std::string line = launcher(1);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      line += (i == 0 ? "" : " : -n 1") + std::string(" -wdir '") +
              (folder_ / processes[i].folder).string() + "' '" COSMICTAGGER_PROGRAM "' " +
              processes[i].words;
    }
    const CommandResult result =
        run_command("cd '" + folder_.path().string() + "' && " + line + " </dev/null");
    return {WIFEXITED(result.status) ? WEXITSTATUS(result.status) : -WTERMSIG(result.status),
            result.output};
  }
  /// One in each of two folders that have files of the same names, as hosts have.
  Ended mpirun_on_two(const std::string& words) const {
    return mpirun_of({{"here", words}, {"there", words}});
  }
  void SetUp() override {
    Mpirun::SetUp();
    for (const char* const place : {"here", "there"}) {
      std::filesystem::create_directory(folder_ / place);
      std::filesystem::copy(folder_ / "events.h5", folder_ / place / "events.h5");
      std::filesystem::copy(folder_ / "test.h5", folder_ / place / "test.h5");
    }
  }
  std::string run() const { return (folder_ / "run").string(); }
};

TEST_F(ProcessesThatDiffer, in_a_setting_stop_before_anything_is_written_and_say_both_values) {
  const Ended refused =
      mpirun_of({{"here", training(run())}, {"here", training(run(), "run.minibatch_size=4")}});
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  EXPECT_THAT(refused.output, AllOf(HasSubstr("cosmictagger: error: rank 0 on host "),
                                    HasSubstr(": rank 1 on host "),
                                    HasSubstr("has other settings than rank 0: run.minibatch_size "
                                              "is '4' there and '12' on rank 0")));
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(ProcessesThatDiffer, in_nothing_say_once_what_is_wrong_with_all_of_them) {
  if (is_hydra()) {
    GTEST_SKIP() << "needs a launcher that ends all processes when one has failed before MPI began";
  }
  for (const char* const word : {"nonsense=3", "run.minibatch_size=none", "--nonsense"}) {
    const Ended refused = mpirun(3, training("run", word));
    EXPECT_EQ(refused.status, kRefused) << refused.output;
    const std::string text = "cosmictagger: error: ";
    const std::size_t first = refused.output.find(text);
    ASSERT_NE(first, std::string::npos) << refused.output;
    EXPECT_EQ(refused.output.find(text, first + 1), std::string::npos) << refused.output;
  }
}

TEST_F(ProcessesThatDiffer, in_how_many_threads_they_have_train_together) {
  const Ended together =
      mpirun_of({{"here", training(run())}, {"here", training(run(), "data.threads=2")}});
  EXPECT_EQ(together.status, 0) << together.output;
}

TEST_F(ProcessesThatDiffer, in_their_events_stop_before_anything_is_written) {
  std::filesystem::remove(folder_ / "there/events.h5");
  write_events(folder_ / "there/events.h5", 30);
  const Ended refused = mpirun_on_two(training(run()));
  EXPECT_EQ(refused.status, kRefused) << refused.output;
  EXPECT_THAT(refused.output, AllOf(HasSubstr(": rank 1 on host "), HasSubstr("has 30 events in "),
                                    HasSubstr(" bytes for training in events.h5, and rank 0 has 29 "
                                              "events in ")));
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(ProcessesThatDiffer, in_having_events_to_validate_on_stop_before_anything_is_written) {
  for (const char* const place : {"there", "here"}) {
    std::filesystem::remove(folder_ / place / "test.h5");
    const Ended refused = mpirun_on_two(training(run()));
    EXPECT_EQ(refused.status, kRefused) << refused.output;
    EXPECT_THAT(refused.output,
                HasSubstr(std::string(place) == "there"
                              ? "finds 0 files of events for validation, and rank 0 1"
                              : "finds 1 file of events for validation, and rank 0 0"));
    EXPECT_FALSE(std::filesystem::exists(run()));
    std::filesystem::copy(folder_ / "test.h5", folder_ / place / "test.h5");
  }
}

TEST_F(ProcessesThatDiffer, in_the_events_that_they_are_to_tag_write_nothing) {
  ASSERT_EQ(folder_.run(training("trained", "run.length=1")).status, 0);
  std::filesystem::remove(folder_ / "there/events.h5");
  write_events(folder_ / "there/events.h5", 28);
  const std::string network =
      " network=a21 network.depth=2 network.n_initial_filters=2 network.bottleneck_deepest=3 "
      "network.blocks_deepest_layer=1 network.blocks_final=1 data.downsample=0 run.threads=1 "
      "data.threads=1 run.id=tiny data.file=events.h5 mode.weights_location=" +
      (folder_ / "trained/checkpoints").string() + " output_dir=" + run();
  for (const std::string command : {"infer", "evaluate"}) {
    const Ended refused = mpirun_on_two(command + network);
    EXPECT_EQ(refused.status, kRefused) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("has 28 events in "));
    EXPECT_FALSE(std::filesystem::exists(run()));
  }
}

/// Stops the thread of a process that computes and no other, as a file system does that does not
/// answer; it goes on when this goes.
class Hang {
 public:
  explicit Hang(pid_t process) : process_(process) {
    works_ = ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0 &&
             ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr) == 0 &&
             waitpid(process, nullptr, __WALL) == process;
  }
  ~Hang() { ptrace(PTRACE_DETACH, process_, nullptr, nullptr); }
  Hang(const Hang&) = delete;
  Hang& operator=(const Hang&) = delete;

  bool works() const { return works_; }

 private:
  pid_t process_;
  bool works_ = false;
};

class AProcessThatHangs : public Mpirun {
 protected:
  /// Of a run without end, a process hangs until the others have said something.
  void expect_said(int late, const std::string& settings, const std::string& text, int status) {
    std::string printed_before_it_went_on;
    const Broken run = broken(3, late, settings, [&](pid_t process) {
      const Hang hang(process);
      if (!hang.works()) {
        hangs_ = false;
      } else {
        EXPECT_TRUE(comes_true([&] { return printed().find(text) != std::string::npos; }))
            << printed();
      }
      kill(process, SIGTERM);
    });
    if (!hangs_) {
      GTEST_SKIP() << "needs the right to stop a thread (ptrace)";
    }
    EXPECT_EQ(run.status, status) << run.printed;
    const std::size_t first = run.printed.find(text);
    EXPECT_EQ(run.printed.find(text, first + 1), std::string::npos) << run.printed;
  }

  bool hangs_ = true;
};

TEST_F(AProcessThatHangs, is_named_once_by_one_of_those_that_wait_and_may_go_on) {
  expect_said(1, "", "s for rank 1 on host ", kGoesOn);
}

TEST_F(AProcessThatHangs, is_named_by_the_next_where_it_is_the_first) {
  expect_said(0, "", "s for rank 0 on host ", kGoesOn);
  EXPECT_THAT(printed(),
              AllOf(HasSubstr("rank 1 on host "), HasSubstr(": the others have waited 2"),
                    HasSubstr("which is alive and computes, reads or writes")));
}

TEST_F(AProcessThatHangs, ends_the_run_after_the_time_that_was_set) {
  expect_said(2, "run.max_wait=3s", " (run.max_wait); the run ends here", kGoesOn);
  EXPECT_THAT(printed(),
              AllOf(HasSubstr("s for rank 2 on host "), Not(HasSubstr("which is alive"))));
}

}  // namespace
}  // namespace cosmic
