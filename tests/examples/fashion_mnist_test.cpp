// The Fashion-MNIST example as its reader runs it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "data/idx/fashion_mnist.hpp"
#include "monitor/job_list.hpp"
#include "run_command.hpp"
#include "scratch_folder.hpp"

namespace cosmic {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// One epoch ends between 85.9 and 87.0 % for the seeds 0 to 7; a network that learns nothing, or
// the wrong thing, stays far below.
constexpr double kLeastAccuracyAfterOneEpoch = 84;

CommandResult run_example(const std::string& arguments) {
  return run_command(std::string(FASHION_MNIST_PROGRAM) + " " + arguments);
}

bool has_data() {
  return std::filesystem::is_directory(data::FashionMnist::kDebianFolder);
}

TEST(FashionMnistExample, learns_in_one_epoch_what_the_tutorial_shows) {
  if (!has_data()) {
    GTEST_SKIP() << "needs Fashion-MNIST (package dataset-fashion-mnist)";
  }
  const CommandResult result = run_example("--epochs 1");
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("Graph compilation: 100%|"),
                    ContainsRegex("\\[Epoch 01\\]: 100%\\|.*\\| 3750/3750 \\[[0-9:]+<00:00, "
                                  "[0-9.]+it/s, Loss=[0-9.]+\\]")));
  const std::string before = "Eval accuracy: ";
  const std::size_t at = result.output.find(before);
  ASSERT_NE(at, std::string::npos) << result.output;
  EXPECT_GE(std::atof(result.output.c_str() + at + before.size()), kLeastAccuracyAfterOneEpoch)
      << result.output;
}

std::string line_with(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST(FashionMnistExample, ends_with_the_same_accuracy_in_every_mode_that_is_modelled) {
  if (!has_data()) {
    GTEST_SKIP() << "needs Fashion-MNIST (package dataset-fashion-mnist)";
  }
  const std::string here = line_with(run_example("--epochs 1").output, "Eval accuracy: ");
  ASSERT_FALSE(here.empty());
  for (const char* mode : {"IPU", "HPU", "RDU"}) {
    SCOPED_TRACE(mode);
    const CommandResult result = run_example(std::string("--epochs 1 --compute-mode ") + mode);
    EXPECT_EQ(line_with(result.output, "Eval accuracy: "), here);
    EXPECT_THAT(result.output,
                AllOf(ContainsRegex("a batch would take [^\n]*\\(modelled"),
                      ContainsRegex("Epoch 01\\] \\(host clock of a modelled run\\)")));
  }
}

TEST(FashionMnistExample, finds_its_programs_compiled_in_the_second_run) {
  if (!has_data()) {
    GTEST_SKIP() << "needs Fashion-MNIST (package dataset-fashion-mnist)";
  }
  const ScratchFolder folder("fashion_mnist_cache");
  const std::string arguments = "--epochs 0 --cache " + folder.path().string();
  EXPECT_THAT(run_example(arguments).output, Not(HasSubstr("Found compiled")));
  const std::string second = run_example(arguments).output;
  EXPECT_THAT(second, HasSubstr("Found compiled in " + folder.path().string()));
}

/// `pictures` pictures of nothing in particular, as an IDX file without its compression.
void write_idx_files(const std::filesystem::path& folder, const std::string& part,
                     std::uint32_t pictures) {
  const auto write = [&](const std::string& name, std::initializer_list<std::uint32_t> header,
                         std::size_t bytes) {
    std::ofstream file(folder / name, std::ios::binary);
    for (const std::uint32_t number : header) {  // big-endian
      for (const int shift : {24, 16, 8, 0}) {
        file.put(static_cast<char>(number >> shift & 0xffU));
      }
    }
    for (std::size_t i = 0; i < bytes; ++i) {
      file.put(static_cast<char>(i % 10));
    }
  };
  write(part + "-images-idx3-ubyte", {0x803, pictures, 28, 28}, pictures * 28 * 28);
  write(part + "-labels-idx1-ubyte", {0x801, pictures}, pictures);
}

TEST(FashionMnistExample, publishes_itself_to_monitor_while_it_trains) {
  const ScratchFolder folder("fashion_mnist_monitor");
  write_idx_files(folder.path(), "train", 64);
  write_idx_files(folder.path(), "t10k", 64);
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execl(FASHION_MNIST_PROGRAM, "fashion_mnist", "--epochs", "1000000", "--compute-mode", "IPU",
          "--data", folder.path().c_str(), nullptr);
    _exit(1);
  }
  std::optional<monitor::JobRecord> seen;
  for (int attempt = 0; attempt < 3000 && !seen; ++attempt) {
    usleep(10'000);
    for (const monitor::RunningJob& job : monitor::list_jobs().jobs) {
      if (job.record.progress.state == monitor::JobState::running) {
        seen = job.record;
      }
    }
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->process.number, child);
  EXPECT_EQ(seen->description.command, "fashion_mnist");
  EXPECT_EQ(seen->description.machine, "GC200");
  EXPECT_EQ(seen->description.provenance, "modelled");
  EXPECT_EQ(seen->progress.total, 4'000'000);
  EXPECT_TRUE(seen->progress.modelled.has_value());
  EXPECT_TRUE(seen->progress.loss.has_value());
}

TEST(FashionMnistExample, refuses_a_compute_mode_that_this_build_does_not_have) {
  const CommandResult result = run_example("--epochs 0 --compute-mode QPU");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, AllOf(HasSubstr("error"), HasSubstr("QPU"), HasSubstr("CPU")));
}

TEST(FashionMnistExample, says_where_the_data_should_have_been) {
  const CommandResult result = run_example("--data /nowhere");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, AllOf(HasSubstr("/nowhere"), HasSubstr("dataset-fashion-mnist")));
}

}  // namespace
}  // namespace cosmic
