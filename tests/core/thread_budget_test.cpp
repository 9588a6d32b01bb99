#include "core/thread_budget.hpp"

#include <gmock/gmock.h>

#include <map>

namespace cosmic {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ProcessLimits limits_with(std::map<std::string, std::string> environment, int cores,
                          std::optional<double> quota = {}) {
  return {.environment = [kept = std::move(environment)](const char* name) -> const char* {
            const auto found = kept.find(name);
            return found == kept.end() ? nullptr : found->second.c_str();
          },
          .cores = cores,
          .quota = quota};
}

TEST(ThreadBudget, is_what_openmp_is_told_before_anything_else) {
  const ThreadBudget budget =
      thread_budget(limits_with({{"OMP_NUM_THREADS", "3"}, {"SLURM_CPUS_PER_TASK", "8"}}, 16, 2.0));
  EXPECT_EQ(budget.threads, 3);
  EXPECT_EQ(budget.reason, "OMP_NUM_THREADS=3");
}

TEST(ThreadBudget, is_the_first_of_a_list_for_nested_regions) {
  EXPECT_EQ(thread_budget(limits_with({{"OMP_NUM_THREADS", "4,2"}}, 16)).threads, 4);
}

TEST(ThreadBudget, is_what_slurm_gives_a_task) {
  const ThreadBudget budget = thread_budget(limits_with({{"SLURM_CPUS_PER_TASK", "8"}}, 16));
  EXPECT_EQ(budget.threads, 8);
  EXPECT_EQ(budget.reason, "SLURM_CPUS_PER_TASK=8");
}

TEST(ThreadBudget, passes_over_variables_that_are_no_number_and_says_so) {
  for (const char* const text : {"many", "0", "-2", "3x", "99999999999"}) {
    const ThreadBudget budget = thread_budget(limits_with({{"OMP_NUM_THREADS", text}}, 5));
    EXPECT_EQ(budget.threads, 5) << text;
    EXPECT_THAT(budget.reason,
                AllOf(HasSubstr("cores"), HasSubstr(std::string("OMP_NUM_THREADS=") + text)));
  }
}

TEST(ThreadBudget, is_at_most_the_quota_of_the_control_group) {
  EXPECT_EQ(thread_budget(limits_with({}, 16, 2.5)).threads, 3);
  EXPECT_THAT(thread_budget(limits_with({}, 16, 2.5)).reason, HasSubstr("control group"));
  EXPECT_EQ(thread_budget(limits_with({}, 16, 0.2)).threads, 1);
  EXPECT_EQ(thread_budget(limits_with({}, 2, 64.0)).threads, 2);
}

}  // namespace
}  // namespace cosmic
