// Commands as a shell would run them, for tests of what they print.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace cosmic::cli {

/// Parses and runs `cosmictagger WORDS...` with the commands that `add` adds.
inline void run_command(void (*add)(Command&), std::vector<std::string> words) {
  Command app;
  add(app);
  app.parse(std::move(words));
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
