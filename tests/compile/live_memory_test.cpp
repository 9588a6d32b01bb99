#include "compile/live_memory.hpp"

#include <gmock/gmock.h>

#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using testing::ElementsAre;

/// Four nodes that do not matter, and places for three of their values.
Plan made_plan() {
  graph::Builder g;
  const graph::TensorType type{graph::DType::f32, {1}};
  for (const char* const name : {"a", "b", "c", "d"}) {
    g.input(name, type);
  }
  Plan plan;
  plan.graph = g.take();
  plan.placements = {std::nullopt, Placement{0, 10, 1, 2}, Placement{10, 30, 2, 2},
                     Placement{0, 20, 3, 4}};
  return plan;
}

TEST(LiveMemory, is_the_sum_of_what_lives_at_each_node) {
  EXPECT_THAT(live_memory(made_plan()).bytes, ElementsAre(0, 10, 40, 20));
}

TEST(LiveMemory, names_the_values_alive_at_the_peak_the_largest_first) {
  const LiveMemory memory = live_memory(made_plan());
  EXPECT_EQ(memory.peak_node, 2U);
  EXPECT_THAT(memory.at_peak, ElementsAre(graph::ValueId(2), graph::ValueId(1)));
}

}  // namespace
}  // namespace cosmic::compile
