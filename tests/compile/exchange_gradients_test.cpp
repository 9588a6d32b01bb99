#include <gtest/gtest.h>

#include "compile/pipeline.hpp"
#include "core/error.hpp"
#include "graph/builder.hpp"
#include "model/segmentation_loss.hpp"
#include "model/uresnet.hpp"
#include "session/small_model.hpp"
#include "target/registry.hpp"

namespace cosmic::compile {
namespace {

using graph::Graph;
using graph::op_if;
using graph::ValueId;

Graph training_network() {
  graph::Builder g;
  const ValueId image = g.input("image", session::small_types().image);
  const ValueId label = g.input("label", session::small_types().label);
  const ValueId logits =
      model::UResNet(session::small_network()).logits(g, image, model::Phase::training);
  g.output(kLossOutput,
           model::SegmentationLoss(model::BalanceScheme::light).loss(g, logits, label));
  return g.take();
}

Graph step(Sums sums) {
  GradientUse use;
  use.sums = sums;
  std::vector<PassReport> report;
  return run_pipeline(training_network(),
                      training_passes(target::make_target("cpu")->info(), {Adam{}}, use), {},
                      report);
}

std::vector<ValueId> exchanges_of(const Graph& graph) {
  std::vector<ValueId> found;
  for_each_node(graph, [&](ValueId id, const graph::Node& node) {
    if (op_if<graph::AllReduce>(node) != nullptr) {
      found.push_back(id);
    }
  });
  return found;
}

TEST(ExchangeGradients, is_not_in_the_program_of_a_process_that_works_alone) {
  EXPECT_TRUE(exchanges_of(step(Sums::own)).empty());
}

TEST(ExchangeGradients, adds_up_every_gradient_and_the_loss_once) {
  const Graph together = step(Sums::of_all_processes);
  std::int64_t exchanged = 0;
  for (const ValueId id : exchanges_of(together)) {
    for (const ValueId operand : together.node(id).operands) {
      exchanged += together.type(operand).elements();
    }
  }
  std::int64_t expected = 1;  // the loss
  const Graph alone = step(Sums::own);
  for (const graph::StateVariable& state : alone.states) {
    const bool is_moment = state.name.ends_with("/exp_avg");
    // What is known to be zero is not sent.
    const bool is_zero =
        is_moment &&
        std::any_of(alone.updates.begin(), alone.updates.end(), [&](const auto& update) {
          return update.state == state.value &&
                 op_if<graph::Fill>(alone.node(alone.node(update.value).operands[1])) != nullptr;
        });
    expected += is_moment && !is_zero ? alone.type(state.value).elements() : 0;
  }
  EXPECT_EQ(exchanged, expected);
}

TEST(ExchangeGradients, begins_while_the_backward_pass_still_runs) {
  const Graph graph = step(Sums::of_all_processes);
  const std::vector<ValueId> exchanges = exchanges_of(graph);
  ValueId last_gradient{};
  for_each_node(graph, [&](ValueId id, const graph::Node& node) {
    if (op_if<graph::ConvKernelGradient>(node) != nullptr) {
      last_gradient = id;
    }
  });
  ASSERT_GE(exchanges.size(), 3U);
  // The loss first, then all buckets but the last.
  for (std::size_t i = 0; i + 1 < exchanges.size(); ++i) {
    EXPECT_LT(exchanges[i], last_gradient);
  }
}

TEST(ExchangeGradients, has_what_came_first_updated_first) {
  const Graph graph = step(Sums::of_all_processes);
  const std::vector<ValueId> exchanges = exchanges_of(graph);
  ValueId latest = exchanges.front();
  std::size_t updates = 0;
  for_each_node(graph, [&](ValueId, const graph::Node& node) {
    if (op_if<graph::Moment>(node) == nullptr) {
      return;
    }
    ValueId gradient = node.operands[1];
    while (op_if<graph::Reshape>(graph.node(gradient)) != nullptr ||
           op_if<graph::Slice>(graph.node(gradient)) != nullptr) {
      gradient = graph.node(gradient).operands[0];
    }
    if (op_if<graph::AllReduce>(graph.node(gradient)) != nullptr) {
      EXPECT_GE(gradient, latest);
      latest = gradient;
      ++updates;
    }
  });
  EXPECT_EQ(latest, exchanges.back());
  EXPECT_GT(updates, exchanges.size());
}

TEST(ExchangeGradients, guards_updates_with_the_losses_of_all) {
  const Graph graph = step(Sums::of_all_processes);
  ASSERT_TRUE(graph.guard.has_value());
  EXPECT_EQ(*graph.guard, graph.output(kLossOfAllOutput).value);
}

TEST(ExchangeGradients, keeps_what_rides_on_convolutions) {
  const compile::TargetInfo info = target::make_target("cpu")->info();
  const auto riders = [&](Sums sums) {
    GradientUse use;
    use.sums = sums;
    const Plan plan = make_plan(training_network(), training_passes(info, {Adam{}}, use), info, {});
    std::size_t count = 0;
    for (const Step& one : plan.steps.steps) {
      count += one.riders.size();
    }
    return count;
  };
  EXPECT_EQ(riders(Sums::of_all_processes), riders(Sums::own));
}

}  // namespace
}  // namespace cosmic::compile
