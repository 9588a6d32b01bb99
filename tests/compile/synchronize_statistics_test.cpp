#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "model/layers.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::op_if;
using graph::ValueId;

Graph training_network(bool synchronized) {
  model::UResNetOptions network = session::small_network();
  network.synchronized_statistics = synchronized;
  graph::Builder g;
  const ValueId image = g.input("image", session::small_types().image);
  const ValueId label = g.input("label", session::small_types().label);
  const ValueId logits = model::UResNet(network).logits(g, image, model::Phase::training);
  g.output(kLossOutput,
           model::SegmentationLoss(model::BalanceScheme::light).loss(g, logits, label));
  return g.take();
}

Graph differentiated(Graph graph, std::int64_t processes) {
  std::vector<PassReport> report;
  return run_pipeline(std::move(graph),
                      {differentiate(), cancel_bias_before_normalization(),
                       synchronize_statistics(processes), drop_dead_nodes()},
                      {}, report);
}

template <class Op>
std::vector<const graph::Node*> nodes_of(const Graph& graph) {
  std::vector<const graph::Node*> found;
  for (const graph::Node& node : graph.nodes()) {
    if (op_if<Op>(node) != nullptr) {
      found.push_back(&node);
    }
  }
  return found;
}

TEST(SynchronizeStatistics, exchanges_each_statistic_once_forwards_and_once_backwards) {
  const Graph plain = differentiated(training_network(false), 2);
  const Graph graph = differentiated(training_network(true), 2);
  EXPECT_TRUE(nodes_of<graph::AllReduce>(plain).empty());
  const std::size_t statistics = nodes_of<graph::Statistics>(graph).size();
  EXPECT_EQ(statistics, nodes_of<graph::Statistics>(plain).size());
  EXPECT_EQ(nodes_of<graph::AllReduce>(graph).size(), 2 * statistics);
  for (const graph::Node* const node : nodes_of<graph::AllReduce>(graph)) {
    EXPECT_EQ(op_if<graph::AllReduce>(*node)->factor, 0.5);
  }
}

TEST(SynchronizeStatistics, leaves_a_process_its_own_to_compute_and_nothing_to_do_again) {
  const Graph graph = differentiated(training_network(true), 2);
  for (const graph::Node* const node : nodes_of<graph::Statistics>(graph)) {
    EXPECT_EQ(op_if<graph::Statistics>(*node)->over, graph::Over::process);
  }
  const Graph again = synchronize_statistics(2).run(graph);
  EXPECT_EQ(nodes_of<graph::AllReduce>(again).size(), nodes_of<graph::AllReduce>(graph).size());
}

TEST(SynchronizeStatistics, counts_the_elements_of_all_in_running_variances) {
  const Graph one = differentiated(training_network(false), 1);
  const Graph three = differentiated(training_network(true), 3);
  const auto of_one = nodes_of<graph::RunningUpdate>(one);
  const auto of_three = nodes_of<graph::RunningUpdate>(three);
  ASSERT_EQ(of_one.size(), of_three.size());
  for (std::size_t i = 0; i < of_one.size(); ++i) {
    EXPECT_EQ(op_if<graph::RunningUpdate>(*of_three[i])->count,
              3 * op_if<graph::RunningUpdate>(*of_one[i])->count);
  }
}

TEST(SynchronizeStatistics, keeps_the_gradient_of_a_bias_in_front_of_them_zero) {
  const auto zeros = [](const Graph& graph) {
    std::size_t count = 0;
    for (const graph::NamedValue& output : graph.outputs) {
      count += op_if<graph::Fill>(graph.node(output.value)) != nullptr ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(zeros(differentiated(training_network(true), 2)),
            zeros(differentiated(training_network(false), 2)));
}

TEST(SynchronizeStatistics, leaves_statistics_of_single_images_alone) {
  graph::Builder g;
  const ValueId image = g.input("image", {graph::DType::f32, {2, 4, 6, 6}});
  g.output("y", model::group_norm(g, "norm", 4, 2)(g, image));
  EXPECT_TRUE(nodes_of<graph::AllReduce>(synchronize_statistics(2).run(g.take())).empty());
}

TEST(SynchronizeStatistics, keeps_what_rides_on_convolutions) {
  const TargetInfo info = target::make_target("cpu")->info();
  const auto riders = [&](bool synchronized) {
    GradientUse use;
    use.sums = Sums::of_all_processes;
    use.processes = 2;
    const Plan plan =
        make_plan(training_network(synchronized), training_passes(info, {Adam{}}, use), info, {});
    std::size_t count = 0;
    for (const Step& one : plan.steps.steps) {
      for (const Rider& rider : one.riders) {
        const graph::Node& node = plan.graph.node(rider.computed.value);
        count += reduction_of(node.op) != graph::Reduction::none ? 1 : 0;
      }
    }
    return count;
  };
  EXPECT_GT(riders(true), 0U);
  EXPECT_EQ(riders(true), riders(false));
}

}  // namespace
}  // namespace cosmic::compile
