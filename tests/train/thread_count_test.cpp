// How many threads a run has: those of run.threads, which compute, and those of data.threads, which
// read. A program of its own, because threads that other tests started would be counted.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

/// Threads of a process; 0 when it is gone.
std::int64_t count_threads(const std::string& process) {
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/" + process + "/task", error);
  return error ? 0 : std::distance(begin(tasks), end(tasks));
}

class ThreadCount : public testing::Test {
 protected:
  ThreadCount() {
    write_random_events(folder() / "train.h5", 9, 1);
    write_random_events(folder() / "test.h5", 4, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

  /// The most that were there after an update, besides those that were there before.
  std::int64_t threads_of_training(const std::vector<std::string>& words) {
    const std::int64_t before = count_threads("self") - 1;
    std::int64_t most = 0;
    TrainingHooks hooks;
    hooks.progress = [&](const TrainingProgress&) {
      most = std::max(most, count_threads("self") - before);
    };
    std::filesystem::remove_all(folder() / "out");
    KeptLog log;
    train(tiny_configuration(folder(), config::Mode::train, words), "cpu", log.log(), hooks);
    return most;
  }

 private:
  RunFolder folder_;
};

TEST_F(ThreadCount, of_training_with_one_thread_was_three) {
  EXPECT_EQ(threads_of_training({"run.threads=1"}), 2);  // one computes, one reads
}

TEST_F(ThreadCount, is_that_of_run_threads_and_data_threads_together) {
  EXPECT_EQ(threads_of_training({"run.threads=1", "data.threads=3"}), 4);
  EXPECT_EQ(threads_of_training({"run.threads=1", "data.aux_file=", "data.threads=2"}), 3);
  EXPECT_EQ(threads_of_training({"run.threads=1", "data=synthetic", "data.downsample=6"}), 1);
}

#ifndef __SANITIZE_THREAD__  // which has a thread of its own in every process
TEST_F(ThreadCount, of_the_command_train_is_two_with_one_thread) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::string> words = kTinyNetwork;
    words.insert(
        words.end(),
        {"run.id=count", "run.seed=7", "run.iterations=300", "run.aux_iterations=2",
         "data.data_directory=" + folder().string(), "data.file=train.h5", "data.aux_file=test.h5",
         "output_dir=" + (folder() / "command").string(), "mode.logging_iteration=1000"});
    words.insert(words.begin(), "train");
    if (std::freopen("/dev/null", "w", stdout) == nullptr) {
      _exit(2);
    }
    try {
      cli::Command app;
      cli::add_train(app);
      app.parse(words);
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  std::int64_t most = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    most = std::max(most, count_threads(std::to_string(child)));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(most, 2);
}
#endif

}  // namespace
}  // namespace cosmic::train
