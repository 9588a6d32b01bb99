#include "compile/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/layer_names.hpp"
#include "compile/passes/passes.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Layers a, b.first, b.second, c: matrices of these sizes, each with a parameter of its own.
Graph chain(const std::vector<std::int64_t>& sizes) {
  const std::vector<std::string> names{"a", "b.first", "b.second", "c"};
  Builder g;
  ValueId x = g.input("x", {graph::DType::f32, {1, 4}});
  std::int64_t from = 4;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Builder::Scope scope(g, names[i]);
    const ValueId weight =
        g.parameter(g.scoped("weight"), {from, sizes[i]}, graph::Initializer::constant(1));
    x = g.add(graph::MatMul{}, {x, weight});
    from = sizes[i];
  }
  g.output("y", x);
  return g.take();
}

std::vector<std::int64_t> stages_of_work(const Graph& graph) {
  std::vector<std::int64_t> stages;
  for (const graph::Node& node : graph.nodes()) {
    if (is_work(node)) {
      stages.push_back(node.stage);
    }
  }
  return stages;
}

TEST(LayerNames, a_block_is_a_layer_and_what_is_inside_it) {
  EXPECT_TRUE(belongs_to("encoder", "encoder"));
  EXPECT_TRUE(belongs_to("encoder.conv", "encoder"));
  EXPECT_FALSE(belongs_to("encoders", "encoder"));
  EXPECT_FALSE(belongs_to("encoder", "encoder.conv"));
  EXPECT_THAT(block_names(chain({1, 1, 1, 1})), ElementsAre("a", "b", "b.first", "b.second", "c"));
}

TEST(Stages, the_longest_name_decides_and_what_is_not_named_follows) {
  Graph graph = chain({4, 4, 4, 4});
  assign_stages(graph, {{"a"}, {"b"}});
  EXPECT_THAT(stages_of_work(graph), ElementsAre(0, 1, 1, 1));
  assign_stages(graph, {{"a", "b.first"}, {"b"}});
  EXPECT_THAT(stages_of_work(graph), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(
      [&] {
        assign_stages(graph, {{"a"}, {"b"}, {"b.first", "b.second"}});
      },
      ThrowsMessage<UserError>(HasSubstr("stage 1 of stages, 'b', gets no layer")));
}

TEST(Stages, parameters_live_where_they_are_read) {
  Graph graph = chain({4, 4, 4, 4});
  assign_stages(graph, {{"a"}, {"b"}, {"c"}});
  EXPECT_EQ(graph.node(graph.state("b.second.weight").value).stage, 1);
  EXPECT_EQ(graph.node(graph.state("c.weight").value).stage, 2);
}

TEST(Stages, automatic_cuts_make_the_dearest_stage_as_cheap_as_can_be) {
  Graph even = chain({4, 4, 4, 4});
  assign_stages(even, 2);
  EXPECT_THAT(stages_of_work(even), ElementsAre(0, 0, 1, 1));
  Graph dear_end = chain({4, 4, 4, 4000});
  assign_stages(dear_end, 2);
  EXPECT_THAT(stages_of_work(dear_end), ElementsAre(0, 0, 0, 1));
  Graph dear_start = chain({4000, 1, 1, 1});
  assign_stages(dear_start, 4);
  EXPECT_THAT(stages_of_work(dear_start), ElementsAre(0, 1, 2, 3));
}

TEST(Stages, gradients_and_updates_belong_to_the_stage_of_their_layer) {
  Builder g(chain({4, 4, 4, 1}));
  g.output(kLossOutput, g.add(graph::Reshape{{}}, {g.graph().output("y").value}));
  Graph forward = g.take();
  assign_stages(forward, {{"a"}, {"b"}, {"c"}});
  const Graph step =
      apply_optimizer({Adam{}}, Keep::nothing).run(differentiate().run(std::move(forward)));
  for (const graph::StateUpdate& update : step.updates) {
    const std::string name = step.node(update.state).name;
    if (name != kStepState) {
      EXPECT_EQ(step.node(update.value).stage, step.node(update.state).stage) << name;
    }
  }
  EXPECT_EQ(step.node(step.state(moment_name("b.first.weight", "exp_avg")).value).stage, 1);
  const std::vector<StageReport> reports = stage_reports({&step}, 3);
  EXPECT_THAT(reports[1].layers, testing::Contains("b.first"));
  EXPECT_GT(reports[2].cost.flops, 0);
}

}  // namespace
}  // namespace cosmic::compile
