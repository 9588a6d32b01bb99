#include "core/thread_budget.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/control_group.hpp"
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

}  // namespace

ProcessLimits process_limits() {
  return {.environment = [](const char* name) -> const char* { return std::getenv(name); },
          .cores = available_cores(),
          .quota = control_group_quota()};
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
