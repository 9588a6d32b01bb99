#include "model/fashion_mnist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/inspect.hpp"

namespace cosmic::model {
namespace {

using graph::DType;
using graph::Graph;
using graph::Shape;

Graph build(SoftmaxAxis axis = SoftmaxAxis::classes) {
  graph::Builder g;
  const graph::ValueId image = g.input("image", {DType::f32, {16, 1, 28, 28}});
  const graph::ValueId labels = g.input("labels", {DType::u8, {16}});
  const graph::ValueId logits = FashionMnist(axis).logits(g, image, Phase::training);
  g.output("logits", logits);
  g.output("loss", NegativeLogLikelihoodLoss().loss(g, logits, labels));
  Graph graph = g.take();
  graph::verify(graph);
  return graph;
}

TEST(FashionMnist, has_the_99896_parameters_of_the_tutorial) {
  const Graph graph = build();
  EXPECT_EQ(parameter_count(graph), 99'896);
  EXPECT_EQ(state_elements(graph, graph::StateKind::buffer), 0);
}

TEST(FashionMnist, names_its_states_layer_by_layer) {
  std::vector<std::string> names;
  for (const graph::StateVariable& state : build().states) {
    names.push_back(state.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("conv1.weight", "conv1.bias", "conv2.weight",
                                          "conv2.bias", "norm.weight", "norm.bias", "fc1.weight",
                                          "fc1.bias", "fc2.weight", "fc2.bias"));
}

TEST(FashionMnist, gives_ten_log_probabilities_per_image_and_one_loss) {
  const Graph graph = build();
  EXPECT_EQ(graph.type(graph.output("logits").value).shape, (Shape{16, 10}));
  EXPECT_EQ(graph.type(graph.output("loss").value).shape, Shape{});
}

TEST(FashionMnist, normalises_over_classes_or_as_the_tutorial_over_the_batch) {
  const auto softmax = [](SoftmaxAxis axis) {
    const Graph graph = build(axis);
    return *graph::op_if<graph::Softmax>(graph.node(graph.output("logits").value));
  };
  EXPECT_EQ(softmax(SoftmaxAxis::classes), (graph::Softmax{1, graph::SoftmaxKind::logarithm}));
  EXPECT_EQ(softmax(SoftmaxAxis::batch), (graph::Softmax{0, graph::SoftmaxKind::logarithm}));
}

TEST(FashionMnist, group_norm_pools_four_channels_of_each_image) {
  const Graph graph = build();
  int found = 0;
  graph::for_each_node(graph, [&](graph::ValueId, const graph::Node& node) {
    if (const auto* statistics = graph::op_if<graph::Statistics>(node)) {
      EXPECT_EQ(*statistics, (graph::Statistics{16, 4}));
      ++found;
    }
  });
  EXPECT_EQ(found, 1);
}

TEST(FashionMnist, starts_within_one_over_the_root_of_the_fan_in) {
  const Graph graph = build();
  EXPECT_DOUBLE_EQ(graph.state("conv2.bias").initializer.value, 1 / std::sqrt(125.0));
  EXPECT_DOUBLE_EQ(graph.state("fc1.weight").initializer.value, 1 / std::sqrt(972.0));
}

}  // namespace
}  // namespace cosmic::model
