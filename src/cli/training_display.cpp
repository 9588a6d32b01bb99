#include "cli/training_display.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace cosmic::cli {
namespace {

constexpr int kLowPriority = 10;

/// What the child does between fork and exec: calls of the system alone, because other threads of
/// the training may have held any lock.
[[noreturn]] void become(const char* program, char* const* words, int output) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // a training that is killed takes it along
  setpriority(PRIO_PROCESS, 0, kLowPriority);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);  // the terminal has the progress of the training
  // The others are the training's: its lock, its tables, its connections.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execv(program, words);
  _exit(127);
}

}  // namespace

TrainingDisplay::TrainingDisplay(const std::filesystem::path& folder, output::RunLog& log)
    : folder_(folder), log_(log) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    give_up(std::strerror(errno));
    return;
  }
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string place = folder.string();
  std::string command = "view";
  const std::array<char*, 4> words{program.data(), command.data(), place.data(), nullptr};
  process_ = fork();
  if (process_ == 0) {
    become(program.c_str(), words.data(), ends[1]);
  }
  close(ends[1]);
  printed_ = ends[0];
  if (process_ < 0) {
    process_ = 0;
    give_up(std::strerror(errno));
    return;
  }
  fcntl(printed_, F_SETFL, O_NONBLOCK);
}

TrainingDisplay::~TrainingDisplay() {
  if (printed_ >= 0) {
    close(printed_);
  }
  if (process_ > 0) {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
}

void TrainingDisplay::look() {
  if (printed_ < 0) {
    return;
  }
  std::array<char, 256> piece{};
  const ssize_t count = read(printed_, piece.data(), piece.size());
  if (count < 0) {
    return;  // nothing yet
  }
  if (count == 0) {
    give_up("it ended");
    return;
  }
  text_.append(piece.data(), static_cast<std::size_t>(count));
  if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
    log_.info("Watch this training at " + text_.substr(0, end) +
              " in a browser of this machine, for as long as it runs.");
    close(printed_);
    printed_ = -1;
  }
}

void TrainingDisplay::give_up(const std::string& why) {
  log_.warning("The display could not be started (--view): " + why +
               ". The training goes on without it; `cosmictagger view " + folder_.string() +
               "` in another terminal says more.");
  if (printed_ >= 0) {
    close(printed_);
    printed_ = -1;
  }
}

}  // namespace cosmic::cli
