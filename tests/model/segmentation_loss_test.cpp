#include "model/segmentation_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cosmic::model {
namespace {

using graph::DType;
using graph::Graph;
using graph::Shape;

Graph build(BalanceScheme scheme, const ClassWeights& weights = {}) {
  graph::Builder g;
  const graph::ValueId logits = g.input("logits", {DType::f32, {6, 3, 16, 24}});
  const graph::ValueId labels = g.input("labels", {DType::u8, {2, 3, 16, 24}});
  g.output("loss", SegmentationLoss(scheme, weights).loss(g, logits, labels));
  Graph graph = g.take();
  graph::verify(graph);
  return graph;
}

template <class Op>
const Op* only(const Graph& graph) {
  const Op* found = nullptr;
  graph::for_each_node(graph, [&](graph::ValueId, const graph::Node& node) {
    if (const Op* op = graph::op_if<Op>(node)) {
      EXPECT_EQ(found, nullptr) << "more than one";
      found = op;
    }
  });
  return found;
}

TEST(SegmentationLoss, is_a_scalar_beside_one_score_per_name) {
  for (const BalanceScheme scheme :
       {BalanceScheme::none, BalanceScheme::light, BalanceScheme::focal, BalanceScheme::even}) {
    const Graph graph = build(scheme);
    EXPECT_EQ(graph.type(graph.output("loss").value).shape, Shape{});
    EXPECT_EQ(graph.type(graph.output("scores").value).shape,
              Shape{static_cast<std::int64_t>(score_names().size())});
    EXPECT_EQ(only<graph::SegmentationScores>(graph)->pixels, 16 * 24);
    EXPECT_EQ(only<graph::WeightedMean>(graph)->groups, 3);
  }
}

TEST(SegmentationLoss, only_the_focal_scheme_is_focal) {
  const auto focal = [](BalanceScheme scheme) {
    const Graph graph = build(scheme);
    return only<graph::SegmentationSums>(graph)->focal;
  };
  EXPECT_EQ(focal(BalanceScheme::focal), graph::Focal::yes);
  EXPECT_EQ(focal(BalanceScheme::none), graph::Focal::no);
  EXPECT_EQ(focal(BalanceScheme::light), graph::Focal::no);
  EXPECT_EQ(focal(BalanceScheme::even), graph::Focal::no);
}

TEST(SegmentationLoss, class_weights_follow_the_scheme) {
  const Graph light = build(BalanceScheme::light);
  EXPECT_EQ(*only<graph::FixedClassWeights>(light), (graph::FixedClassWeights{1, 1.5, 10, 3, 3}));
  const Graph focal = build(BalanceScheme::focal);
  EXPECT_EQ(*only<graph::FixedClassWeights>(focal), (graph::FixedClassWeights{1, 1, 1, 3, 3}));
  const Graph even = build(BalanceScheme::even);
  EXPECT_EQ(only<graph::FixedClassWeights>(even), nullptr);
  EXPECT_EQ(only<graph::EvenClassWeights>(even)->groups, 3);
}

TEST(SegmentationLoss, given_class_weights_multiply_those_of_the_scheme) {
  const Graph none = build(BalanceScheme::none, {0.5, 1, 1.5});
  EXPECT_EQ(*only<graph::FixedClassWeights>(none), (graph::FixedClassWeights{0.5, 1, 1.5, 3, 3}));
  const Graph light = build(BalanceScheme::light, {0.5, 2, 0.25});
  EXPECT_EQ(*only<graph::FixedClassWeights>(light), (graph::FixedClassWeights{0.5, 3, 2.5, 3, 3}));
}

TEST(SegmentationLoss, scores_are_named_in_the_order_of_the_reference) {
  const std::vector<std::string> names = score_names();
  ASSERT_EQ(names.size(), 20u);
  EXPECT_THAT(
      std::vector(names.begin(), names.begin() + 6),
      testing::ElementsAre("Average/Total_Accuracy", "Average/Cosmic_IoU", "Average/Neutrino_IoU",
                           "Average/Non_Bkg_Accuracy", "Average/mIoU", "plane0/Total_Accuracy"));
  EXPECT_EQ(names.back(), "plane2/mIoU");
}

TEST(SegmentationLoss, scheme_names_read_back_as_they_are_written) {
  for (const std::string name : {"none", "light", "focal", "even"}) {
    EXPECT_EQ(to_string(parse_enum<BalanceScheme>(name)), name);
  }
}

}  // namespace
}  // namespace cosmic::model
