// The program in the background, for tests of what happens while it runs.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace cosmic {

/// Ended with the test, however that ends.
class BackgroundProgram {
 public:
  /// Runs in `folder`; what it prints goes to the file `printed`.
  BackgroundProgram(const std::filesystem::path& program, const std::filesystem::path& folder,
                    std::vector<std::string> words, const std::filesystem::path& printed) {
    words.insert(words.begin(), program.string());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      const int file = open(printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
      if (chdir(folder.c_str()) == 0) {
        execv(program.c_str(), arguments.data());
      }
      _exit(127);
    }
  }
  ~BackgroundProgram() {
    if (child_ > 0) {
      end(SIGKILL);
    }
  }
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  pid_t number() const { return child_; }

  /// Sends the signal, if it is one, and waits. Returns the exit status, or minus the signal that
  /// ended it.
  int end(int signal = 0) {
    if (signal != 0) {
      kill(child_, signal);
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t child_ = 0;
};

/// Whether it comes true before a test must be taken for failed.
template <class Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace cosmic
