// Processes that use one cache at the same time, as hard as they can, never see anything but whole
// plans or none. A program of its own, because it forks: no other test may have started threads.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "compile/artifact/artifact_file.hpp"
#include "compile/artifact/executable_cache.hpp"
#include "compile/artifact/plan_bytes.hpp"
#include "compile/artifact/some_plan.hpp"
#include "core/random.hpp"
#include "scratch_folder.hpp"

namespace cosmic::compile::artifact {
namespace {

constexpr int kProcesses = 4;
constexpr int kRounds = 60;
constexpr int kPrograms = 5;

compile::Plan plan_number(std::uint64_t number) {
  compile::Plan plan = tiny_plan();
  plan.origin.made_from = {{"program", std::to_string(number)}};
  return plan;
}

/// Looks for programs and keeps what it does not find, in a cache with room for some of them.
/// Returns what went wrong.
std::string hammer(const std::filesystem::path& folder, int process) {
  const std::string expected = plan_bytes(tiny_plan());
  const compile::Plan sample = plan_number(0);
  const compile::Plan* const one[] = {&sample};
  const ExecutableCache cache(folder, 3 * artifact_bytes(one).size());
  RandomStream random(1, "process " + std::to_string(process));
  for (int round = 0; round < kRounds; ++round) {
    compile::Plan plan = plan_number(random.next() % kPrograms);
    std::vector<std::string> warnings;
    const auto found = cache.find(plan.origin.made_from, some_target(), warnings);
    if (found && plan_bytes(*found) != expected) {
      return "found another plan";
    }
    if (!found) {
      cache.keep(plan);
    }
    warnings.insert(warnings.end(), plan.origin.warnings.begin(), plan.origin.warnings.end());
    // Another process may remove a file between the look and the opening; that is all.
    for (const std::string& warning : warnings) {
      if (warning.find("cannot be read") == std::string::npos) {
        return warning;
      }
    }
  }
  return "";
}

TEST(SharedCache, serves_processes_that_know_nothing_of_each_other) {
  const ScratchFolder folder("shared_cache");
  const std::filesystem::path cache = folder / "cache";
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string problem = hammer(cache, process);
      if (!problem.empty()) {
        std::ofstream(folder / ("problem-" + std::to_string(process))) << problem;
      }
      _exit(problem.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    waitpid(children[static_cast<std::size_t>(process)], &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << content_of(folder / ("problem-" + std::to_string(process)));
  }
  // What is left is whole and within the limit; unfinished files are gone with their writers.
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    EXPECT_EQ(load_artifact(entry.path()).programs.size(), 1) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
  EXPECT_LE(files, 3);
}

}  // namespace
}  // namespace cosmic::compile::artifact
