// Every op with values in every narrow format, on every target that has it. The oracle runs the
// very program that the target runs, with the same values stored: both then round the same numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <tuple>

#include "conformance/op_cases.hpp"
#include "conformance/run_case.hpp"
#include "target/targets_here.hpp"

namespace cosmic::conformance {
namespace {

using graph::ValueId;
using target::reference::Tensor;

/// Between one number of a format and the next, as a share of the number.
double step_of(NumberFormat format) {
  return format == NumberFormat::bf16 ? 0x1p-7 : 0x1p-10;
}

/// All floats that a program computes or is given in the format.
graph::Graph in_format(graph::Graph graph, NumberFormat format) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    graph::Node& node = graph.node(ValueId(i));
    if (node.type.dtype == graph::DType::f32 && graph::op_if<graph::State>(node) == nullptr) {
      node.format = format;
    }
  }
  return graph;
}

/// float32 and double round to the same number of the format, but for the few that lie next to the
/// middle between two.
void expect_mostly_equal(const Tensor& value, const Tensor& expected, const std::string& what) {
  constexpr std::size_t kOneIn = 50;
  std::size_t different = 0;
  for (std::size_t i = 0; i < value.data.size(); ++i) {
    const bool both_nan = std::isnan(value.data[i]) && std::isnan(expected.data[i]);
    different += value.data[i] != expected.data[i] && !both_nan ? 1 : 0;
  }
  EXPECT_LE(different, 1 + value.data.size() / kOneIn) << what;
}

void expect_numbers_of(NumberFormat format, const Tensor& value, const std::string& what) {
  for (const double number : value.data) {
    const auto as_float = static_cast<float>(number);
    ASSERT_TRUE(std::isnan(number) || rounded(as_float, format) == as_float)
        << what << ": " << number << " is no number of " << to_string(format);
  }
}

class FormatOnTarget
    : public testing::TestWithParam<std::tuple<std::string, NumberFormat, OpCase>> {
 protected:
  void SetUp() override {
    if (const Support support =
            target_->supports_precision({.format = std::get<NumberFormat>(GetParam())});
        !support.ok) {
      GTEST_SKIP() << support.why_not;
    }
  }

  const std::unique_ptr<target::Target> target_ =
      target::make_target(std::get<std::string>(GetParam()));
};

TEST_P(FormatOnTarget, rounds_what_it_stores_as_the_reference_does) {
  const auto& [name, format, op_case] = GetParam();
  const graph::Graph graph = in_format(op_case.graph, format);
  // Once with everything stored, hence rounded, and once as a program would be.
  for (const bool all_stored : {true, false}) {
    compile::PipelineOptions options;
    if (all_stored) {
      options.disabled = {"choose-stored-values"};
    }
    const compile::Plan plan = plan_for(graph, *target_, options);
    for (std::size_t i = 0; i < plan.graph.size(); ++i) {
      if (const Support support = target_->supports(plan.graph, ValueId(i)); !support.ok) {
        GTEST_SKIP() << support.why_not;
      }
    }
    const std::vector<Tensor> expected = meaning_of(plan.graph, op_case);
    for (const int threads : {1, 3}) {
      const std::vector<Tensor> results = run_on(*target_, op_case, plan, threads);
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string what = "result " + std::to_string(i) + " with " +
                                 std::to_string(threads) + " threads" +
                                 (all_stored ? ", all stored" : "");
        expect_agreement(results[i], expected[i], step_of(format), what);
        if (all_stored && results[i].type.dtype == graph::DType::f32) {
          expect_mostly_equal(results[i], expected[i], what);
          expect_numbers_of(format, results[i], what);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, FormatOnTarget,
                         testing::Combine(testing::ValuesIn(target::targets_here()),
                                          testing::Values(NumberFormat::bf16, NumberFormat::f16),
                                          testing::ValuesIn(op_cases())),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  to_string(std::get<1>(instance.param)) + "_" +
                                  std::get<2>(instance.param).name;
                         });

/// Sums over an image are joined in an order that depends on the number of threads; images are not.
bool writes_an_image(const OpCase& op_case) {
  const graph::Node& node = op_case.graph.node(op_case.under_test);
  return graph::op_if<graph::Conv>(node) != nullptr ||
         graph::op_if<graph::ConvTranspose>(node) != nullptr ||
         graph::op_if<graph::Add>(node) != nullptr ||
         graph::op_if<graph::LeakyRelu>(node) != nullptr ||
         graph::op_if<graph::MaxPoolGradient>(node) != nullptr ||
         graph::op_if<graph::UpsampleGradient>(node) != nullptr ||
         graph::op_if<graph::Copy>(node) != nullptr;
}

class StochasticOnTarget
    : public testing::TestWithParam<std::tuple<std::string, NumberFormat, OpCase>> {};

TEST_P(StochasticOnTarget, gives_neighbours_of_the_result_and_the_same_with_any_number_of_threads) {
  const auto& [name, format, op_case] = GetParam();
  const std::unique_ptr<target::Target> target = target::make_target(name);
  graph::Graph graph = op_case.graph;
  graph.node(op_case.under_test).format = format;
  graph.numerics.rounding = Rounding::stochastic;
  graph.numerics.seed = 11;
  compile::PipelineOptions options;
  options.disabled = {"choose-stored-values"};
  const compile::Plan plan = plan_for(graph, *target, options);
  for (std::size_t i = 0; i < plan.graph.size(); ++i) {
    if (const Support support = target->supports(plan.graph, ValueId(i)); !support.ok) {
      GTEST_SKIP() << support.why_not;
    }
  }
  const std::vector<Tensor> exact = meaning_of(op_case.graph, op_case);
  const std::vector<Tensor> alone = run_on(*target, op_case, plan, 1);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    expect_agreement(alone[i], exact[i], step_of(format), "result " + std::to_string(i));
    expect_numbers_of(format, alone[i], "result " + std::to_string(i));
    for (const int threads : {2, 3, 5}) {
      EXPECT_EQ(run_on(*target, op_case, plan, threads)[i].data, alone[i].data)
          << threads << " threads";
    }
  }
}

/// What an op makes of a rounded image need not be a number of its format.
bool hands_back_nothing_else(const OpCase& op_case) {
  const std::vector<graph::NamedValue>& outputs = op_case.graph.outputs;
  return std::all_of(outputs.begin(), outputs.end(), [&](const graph::NamedValue& output) {
    return output.value == op_case.under_test;
  });
}

std::vector<OpCase> cases_that_write_images() {
  std::vector<OpCase> cases;
  for (const OpCase& op_case : op_cases()) {
    if (writes_an_image(op_case) && hands_back_nothing_else(op_case)) {
      cases.push_back(op_case);
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(AllTargets, StochasticOnTarget,
                         testing::Combine(testing::ValuesIn(target::targets_here()),
                                          testing::Values(NumberFormat::bf16, NumberFormat::f16),
                                          testing::ValuesIn(cases_that_write_images())),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  to_string(std::get<1>(instance.param)) + "_" +
                                  std::get<2>(instance.param).name;
                         });

}  // namespace
}  // namespace cosmic::conformance
