// Every op on every target of this build against the reference, from one list of cases.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compile/pipeline.hpp"
#include "conformance/op_cases.hpp"
#include "conformance/run_case.hpp"
#include "target/reference/evaluate.hpp"
#include "target/targets_here.hpp"

namespace cosmic::conformance {
namespace {

using graph::ValueId;
using target::reference::Tensor;

class OpOnTarget : public testing::TestWithParam<std::tuple<std::string, OpCase>> {};

TEST_P(OpOnTarget, agrees_with_reference) {
  const auto& [target_name, op_case] = GetParam();
  const std::unique_ptr<target::Target> target = target::make_target(target_name);
  const compile::Plan plan = plan_for(op_case.graph, *target);
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    if (const Support support = target->supports(plan.graph, ValueId(i)); !support.ok) {
      GTEST_SKIP() << support.why_not;
    }
  }
  const std::vector<Tensor> expected = meaning_of(op_case.graph, op_case);
  for (const int threads : {1, 3}) {
    const std::vector<Tensor> results = run_on(*target, op_case, plan, threads);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      expect_agreement(
          results[i], expected[i], op_case.tolerance,
          "result " + std::to_string(i) + " with " + std::to_string(threads) + " threads");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, OpOnTarget,
                         testing::Combine(testing::ValuesIn(target::targets_here()),
                                          testing::ValuesIn(op_cases())),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  std::get<1>(instance.param).name;
                         });

template <std::size_t... Index>
std::vector<std::string> names_of_all_ops(std::index_sequence<Index...>) {
  return {std::string(std::variant_alternative_t<Index, graph::OneOfAllOps>::name)...};
}

TEST(OpCases, every_op_has_a_case) {
  std::set<std::string_view> tested;
  for (const OpCase& op_case : op_cases()) {
    tested.insert(graph::name_of(op_case.graph.node(op_case.under_test).op));
  }
  constexpr std::size_t kOps = std::variant_size_v<graph::OneOfAllOps>;
  for (const std::string& name : names_of_all_ops(std::make_index_sequence<kOps>{})) {
    EXPECT_TRUE(tested.contains(name)) << "add cases for '" << name << "' to op_cases.cpp";
  }
}

class TargetOfThisBuild : public testing::TestWithParam<std::string> {};

/// All other tests leave out a target whose machine is not here; this one says so and why.
TEST_P(TargetOfThisBuild, has_its_machine_here) {
  if (const Support support = target::availability_of(GetParam()); !support.ok) {
    GTEST_SKIP() << "needs the machine of target " << GetParam() << " (" << support.why_not << ")";
  }
  EXPECT_EQ(target::make_target(GetParam())->name(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllTargets, TargetOfThisBuild, testing::ValuesIn(target::target_names()),
                         [](const auto& instance) { return instance.param; });

TEST(OpCases, every_graph_is_valid) {
  for (const OpCase& op_case : op_cases()) {
    EXPECT_NO_THROW(graph::verify(op_case.graph)) << op_case.name;
  }
}

}  // namespace
}  // namespace cosmic::conformance
