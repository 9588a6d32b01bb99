// Training that is killed at random moments, hundreds of times, ends with the bits of training that
// was left alone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "checkpoint/checkpoint_folder.hpp"
#include "core/random.hpp"
#include "sanitizer.hpp"
#include "train/tiny_run.hpp"
#include "train/training.hpp"

namespace cosmic::train {
namespace {

// Under a sanitizer fewer will do: it looks at what each of them does, not for a rare moment.
constexpr int kKills = kUnderSanitizer ? 20 : 200;
// Lives are drawn up to this many times what a whole run takes: beyond its last checkpoint.
constexpr double kLongestLife = 1.25;

class KilledTraining : public testing::Test {
 protected:
  KilledTraining() {
    write_random_events(folder() / "train.h5", 9, 1);
    write_random_events(folder() / "test.h5", 4, 2);
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

  void train_into(const std::string& name) const {
    KeptLog log;
    train(tiny_configuration(folder(), config::Mode::train,
                             {"output_dir=" + (folder() / name).string(), "run.length=12",
                              "mode.checkpoint_iteration=1", "mode.keep_checkpoints=2",
                              "mode.keep_best=true", "data.order=shuffled"}),
          "cpu", log.log());
  }

  /// Milliseconds that a process takes which is left alone.
  double train_in_peace(const std::string& name) const {
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = start_training(name);
    expect_no_error(wait_for(child));
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  /// A process that trains and is killed after a while, if it is not done by then. Returns whether
  /// it was killed.
  bool train_and_kill(const std::string& name, double milliseconds) const {
    const pid_t child = start_training(name);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
    kill(child, SIGKILL);
    const int status = wait_for(child);
    expect_no_error(status);
    return WIFSIGNALED(status);
  }

  std::map<std::string, std::vector<std::byte>> bytes_of(const std::string& name) const {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& [tensor_name, tensor] :
         checkpoint::load_newest(folder() / name / "checkpoints").checkpoint.tensors) {
      result[tensor_name] = tensor.bytes;
    }
    return result;
  }

 private:
  pid_t start_training(const std::string& name) const {
    const pid_t child = fork();
    if (child == 0) {
      try {
        train_into(name);
        _exit(0);
      } catch (const std::exception& error) {
        std::ofstream(folder() / "error.txt") << error.what();
        _exit(1);
      }
    }
    return child;
  }

  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  void expect_no_error(int status) const {
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      std::ifstream file(folder() / "error.txt");
      ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(file), {});
    }
  }

  RunFolder folder_;
};

TEST_F(KilledTraining, always_goes_on_and_ends_with_the_same_bits) {
  const double whole_milliseconds = train_in_peace("whole");
  const auto whole = bytes_of("whole");
  RandomStream random(1, "moments to die");
  int kills = 0;
  for (int run = 0; kills < kKills; ++run) {
    const std::string name = "run" + std::to_string(run);
    while (train_and_kill(name, random.uniform(0, kLongestLife * whole_milliseconds))) {
      ++kills;
      ASSERT_FALSE(HasFailure());
    }
    ASSERT_FALSE(HasFailure());
    ASSERT_EQ(bytes_of(name), whole) << "run " << run << ", after " << kills << " kills";
    std::filesystem::remove_all(folder() / name);
  }
  RecordProperty("kills", kills);
}

}  // namespace
}  // namespace cosmic::train
