#include "session/modelled_program.hpp"

#include <gtest/gtest.h>

#include "machine/liveness.hpp"
#include "machine/prediction.hpp"
#include "machine/workload.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "target/registry.hpp"

namespace cosmic::session {
namespace {

graph::Graph step(const ProgramOptions& options) {
  model::UResNetOptions network = model::preset("a21");
  network.depth = 3;
  network.bottleneck_deepest = 16;  // images count here, not weights
  return training_program(model::UResNet(network), model::SegmentationLoss{}, {1, 3, 128, 128},
                          options);
}

double flops_of(const graph::Graph& graph) {
  double flops = 0;
  for (const machine::Work& work : machine::workload_of(graph).works) {
    flops += work.flops;
  }
  return flops;
}

TEST(Recomputation, needs_less_memory_for_at_most_one_more_forward_pass) {
  const graph::Graph kept = step({});
  const graph::Graph again = step({.recomputation = Recomputation::yes});
  EXPECT_LT(machine::liveness_of(again).peak, 0.75 * machine::liveness_of(kept).peak);
  EXPECT_GT(flops_of(again), flops_of(kept));
  EXPECT_LT(flops_of(again), 1.4 * flops_of(kept));  // forward is a third
}

// On an RDU it may even gain time: what is computed again need not pass a section's boundary.
TEST(Recomputation, costs_time_where_arithmetic_and_launches_do) {
  const graph::Graph kept = step({});
  const graph::Graph again = step({.recomputation = Recomputation::yes});
  for (const char* name : {"gc200", "gaudi1", "h200", "zen4-2core"}) {
    const machine::Description machine = target::find_machine(name);
    EXPECT_GT(machine::predict(machine, again).step.best, machine::predict(machine, kept).step.best)
        << name;
  }
}

TEST(Stages, of_a_pipeline_share_states_and_work) {
  const graph::Graph graph = step({.stages = 4});
  EXPECT_EQ(machine::workload_of(graph).stages, 4U);
  const machine::Liveness liveness = machine::liveness_of(graph);
  double states = 0;
  for (const machine::StageLiveness& stage : liveness.stages) {
    EXPECT_GT(stage.states, 0);
    states += stage.states;
  }
  EXPECT_DOUBLE_EQ(states, liveness.always_live);
}

TEST(Stages, with_recomputation_keep_less_for_the_runs_under_way) {
  const double kept = machine::liveness_of(step({.stages = 4})).stages[0].kept_for_backward;
  const double again =
      machine::liveness_of(step({.recomputation = Recomputation::yes, .stages = 4}))
          .stages[0]
          .kept_for_backward;
  EXPECT_LT(again, 0.6 * kept);
}

}  // namespace
}  // namespace cosmic::session
