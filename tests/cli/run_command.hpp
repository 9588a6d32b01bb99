// Commands as a shell would run them, for tests of what they print.
#pragma once

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace cosmic::cli {

/// Parses and runs `cosmictagger WORDS...` with the commands that `add` adds.
inline void run_command(void (*add)(CLI::App&), std::vector<std::string> words) {
  CLI::App app;
  add(app);
  std::reverse(words.begin(), words.end());  // the parser takes them from the end
  app.parse(words);
}

/// What is printed while `work` runs. If it throws, that is lost.
template <class Work>
std::string printed_by(const Work& work) {
  testing::internal::CaptureStdout();
  try {
    work();
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  return testing::internal::GetCapturedStdout();
}

}  // namespace cosmic::cli
