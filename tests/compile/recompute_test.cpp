// Recomputation on a chain of convolutions, where it is plain what must be kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_values.hpp"
#include "compile/passes/passes.hpp"
#include "compile/plan.hpp"
#include "model/layers.hpp"
#include "model/segmentation_loss.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::ValueId;

/// first.conv, second.conv, ... with an activation after each, then three classes and a loss.
Graph differentiated_chain(const std::vector<std::string>& names) {
  Builder g;
  ValueId x = g.input("image", {graph::DType::f32, {3, 2, 6, 8}});
  const ValueId labels = g.input("label", {graph::DType::u8, {1, 3, 6, 8}});
  for (const std::string& name : names) {
    const Builder::Scope scope(g, name);
    const bool last = name == names.back();
    x = model::convolution(g, "conv",
                           {.from = 2,
                            .to = last ? 3 : 2,
                            .kernel = {3, 3},
                            .window = {.stride = {1, 1, 1}, .pad = {0, 1, 1}}})(g, x);
    if (!last) {
      x = g.add(graph::LeakyRelu{}, {x});
    }
  }
  const model::SegmentationLoss loss(model::BalanceScheme::none);
  g.output(kLossOutput, loss.loss(g, x, labels));
  return drop_dead_nodes().run(differentiate().run(g.take()));
}

const std::vector<std::string> kChain{"first", "second", "third", "fourth", "fifth", "classes"};

TEST(Recomputation, clones_what_lies_between_checkpoints_and_changes_no_number) {
  const Graph plain = differentiated_chain(kChain);
  const Graph again = recompute_between_checkpoints({"second.conv", "fourth.conv"}).run(plain);
  graph::verify(again);
  EXPECT_EQ(distance(plain, again), 0);
  // first and third are computed again; fifth comes right before the backward pass.
  EXPECT_EQ(count<graph::Conv>(again), count<graph::Conv>(plain) + 2);
}

TEST(Recomputation, lets_the_arena_shrink) {
  const Graph plain = differentiated_chain(kChain);
  const Graph again = recompute_between_checkpoints({"second.conv", "fourth.conv"}).run(plain);
  EXPECT_LT(plan_memory(again, {}).peak_live_bytes, plan_memory(plain, {}).peak_live_bytes);
}

TEST(Recomputation, computes_nothing_again_if_everything_is_kept) {
  const Graph plain = differentiated_chain(kChain);
  std::vector<std::string> convolutions;
  for (const std::string& name : kChain) {
    convolutions.push_back(name + ".conv");
  }
  const Graph again = recompute_between_checkpoints(convolutions).run(plain);
  EXPECT_EQ(distance(plain, again), 0);
  EXPECT_EQ(count<graph::Conv>(again), count<graph::Conv>(plain));
}

TEST(Recomputation, keeps_the_result_of_a_block_and_nothing_inside_it) {
  const Graph plain = differentiated_chain(kChain);
  const Graph again = recompute_between_checkpoints({"second", "fourth"}).run(plain);
  EXPECT_EQ(distance(plain, again), 0);
  // The gradient of an activation reads what the convolution before it gave.
  EXPECT_EQ(count<graph::Conv>(again), count<graph::Conv>(plain) + 4);
}

TEST(Recomputation, from_one_checkpoint_starts_at_the_image) {
  const Graph plain = differentiated_chain(kChain);
  const Graph again = recompute_between_checkpoints({"fourth.conv"}).run(plain);
  EXPECT_EQ(distance(plain, again), 0);
  EXPECT_EQ(count<graph::Conv>(again), count<graph::Conv>(plain) + 3);
}

}  // namespace
}  // namespace cosmic::compile
