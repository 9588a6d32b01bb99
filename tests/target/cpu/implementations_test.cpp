// Which way a step is computed, and what the other ways say for themselves.
#include "target/cpu/implementations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "graph/builder.hpp"
#include "target/cpu/cpu_info.hpp"

namespace cosmic::target::cpu {
namespace {

using graph::Builder;
using graph::ValueId;
using testing::HasSubstr;

/// The plan of one convolution.
compile::Plan conv_plan(const graph::Shape& image, const graph::Shape& kernel,
                        NumberFormat partials = NumberFormat::f32) {
  Builder g;
  const std::int64_t pad = kernel[2] / 2;
  const ValueId x = g.input("image", {graph::DType::f32, image});
  const ValueId weights = g.parameter("kernel", kernel, graph::Initializer::uniform(1));
  g.output("y", g.add(graph::Conv{{{1, 1, 1}, {0, pad, pad}}}, {x, weights}));
  const compile::Precision precision{
      .format = partials, .weights = compile::Precision::Weights::pure, .partials = partials};
  return compile::make_plan(g.take(), compile::finishing_passes(cpu_info(), precision), cpu_info(),
                            {});
}

const compile::Step& conv_step(const compile::Plan& plan) {
  for (const compile::Step& step : plan.steps.steps) {
    if (graph::op_if<graph::Conv>(plan.graph.node(step.leader.value)) != nullptr) {
      return step;
    }
  }
  throw std::logic_error("there is no convolution");
}

std::string_view chosen(const compile::Plan& plan) {
  return choose(plan.graph, conv_step(plan)).name;
}

TEST(Implementations, of_a_convolution_depend_on_its_channels_and_its_images) {
  EXPECT_EQ(chosen(conv_plan({1, 16, 64, 64}, {16, 16, 3, 3})), "Winograd F(4x4, 3x3)");
  EXPECT_EQ(chosen(conv_plan({1, 16, 64, 64}, {16, 16, 5, 5})), "rows, direct");
  EXPECT_EQ(chosen(conv_plan({1, 4, 64, 64}, {4, 4, 3, 3})), "rows, direct");
  EXPECT_EQ(chosen(conv_plan({16, 4, 16, 16}, {4, 4, 3, 3})), "rows of eight interleaved images");
}

TEST(Implementations, that_round_sums_are_chosen_where_sums_are_rounded) {
  EXPECT_EQ(chosen(conv_plan({1, 16, 64, 64}, {16, 16, 3, 3}, NumberFormat::f16)),
            "rows, direct, rounded sums");
}

TEST(Implementations, say_why_they_are_not_for_a_step) {
  const compile::Plan plan = conv_plan({1, 16, 64, 62}, {16, 16, 3, 3});
  const std::vector<KernelChoice> choices = choices_for(plan.graph, conv_step(plan));
  ASSERT_EQ(choices.size(), 4U);
  EXPECT_THAT(choices[0].support.why_not, HasSubstr("not small and many"));
  EXPECT_EQ(choices[1].name, "Winograd F(4x4, 3x3)");
  EXPECT_THAT(choices[1].support.why_not, HasSubstr("64 x 62 is not made of whole tiles"));
  EXPECT_TRUE(choices[2].support.ok);
  EXPECT_THAT(choices[3].support.why_not, HasSubstr("no sum is to be rounded"));
}

TEST(Implementations, of_every_op_end_with_one_that_has_no_reason_to_refuse_or_name_theirs) {
  const compile::Plan plan = conv_plan({1, 4, 8, 8}, {4, 4, 3, 3});
  for (const compile::Step& step : plan.steps.steps) {
    for (const KernelChoice& choice : choices_for(plan.graph, step)) {
      EXPECT_EQ(choice.support.ok, choice.support.why_not.empty()) << choice.name;
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu
