#include "core/thread_budget.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "core/limits.hpp"
#include "core/threads.hpp"

namespace cosmic {
namespace {

/// The number that a text begins with, up to its end or a comma: OMP_NUM_THREADS may be a list.
std::optional<int> leading_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool ends = end == text.data() + text.size() || *end == ',';
  return error == std::errc() && ends && number >= 1 && number <= kMostThreads
             ? std::optional(number)
             : std::nullopt;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// cgroup v2: "200000 100000", or "max 100000" without a limit.
std::optional<double> quota_of(const std::string& cpu_max) {
  std::istringstream text(cpu_max);
  double quota = 0;
  double period = 0;
  return text >> quota >> period && quota > 0 && period > 0 ? std::optional(quota / period)
                                                            : std::nullopt;
}

/// A limit of any group above a group holds for it too.
std::optional<double> least_quota(const std::filesystem::path& root, std::filesystem::path group,
                                  const std::function<std::string(std::filesystem::path)>& limit) {
  std::optional<double> least;
  for (group = group.relative_path();; group = group.parent_path()) {
    if (const std::optional<double> quota = quota_of(limit(root / group))) {
      least = std::min(least.value_or(*quota), *quota);
    }
    if (group.empty()) {
      return least;
    }
  }
}

}  // namespace

std::optional<double> control_group_quota(const std::filesystem::path& root,
                                          const std::string& groups) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::filesystem::path group = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers == ",,") {  // version 2
      quota = least_quota(root, group, [](const std::filesystem::path& folder) {
        return content_of(folder / "cpu.max");
      });
    } else if (controllers.find(",cpu,") != std::string::npos) {
      // The slash tells the folder from the target of that name, which is not for this layer to
      // name.
      quota = least_quota(root / "cpu/", group, [](const std::filesystem::path& folder) {
        return content_of(folder / "cpu.cfs_quota_us") + " " +
               content_of(folder / "cpu.cfs_period_us");
      });
    }
    if (quota) {
      return quota;
    }
  }
  return std::nullopt;
}

ProcessLimits process_limits() {
  return {.environment = [](const char* name) -> const char* { return std::getenv(name); },
          .cores = available_cores(),
          .quota = control_group_quota("/sys/fs/cgroup", content_of("/proc/self/cgroup"))};
}

ThreadBudget thread_budget(const ProcessLimits& limits) {
  std::string passed_over;
  for (const char* const name : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const char* const text = limits.environment(name);
    if (text == nullptr || *text == '\0') {
      continue;
    }
    const std::string given = std::string(name) + "=" + text;
    if (const std::optional<int> threads = leading_number(text)) {
      return {*threads, given + passed_over};
    }
    passed_over += "; " + given + " is no number of threads and was passed over";
  }
  const int quota =
      limits.quota ? std::max(1, static_cast<int>(std::ceil(*limits.quota))) : limits.cores;
  if (quota < limits.cores) {
    return {quota, "the quota of its control group" + passed_over};
  }
  return {limits.cores, "the cores that this process may use" + passed_over};
}

}  // namespace cosmic
