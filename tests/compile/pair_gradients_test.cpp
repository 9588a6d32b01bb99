#include <gtest/gtest.h>

#include "compile/passes/passes.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {
namespace {

using graph::Builder;
using graph::Graph;
using graph::Node;
using graph::ValueId;

/// Two convolutions in a row and the gradients of their kernels.
Graph two_layers() {
  Builder g;
  const graph::Window same{{1, 1, 1}, {0, 1, 1}};
  const ValueId image = g.input("image", {graph::DType::f32, {1, 1, 8, 8}});
  const ValueId label = g.input("label", {graph::DType::u8, {1, 1, 8, 8}});
  const auto kernel = [&](const char* name, graph::Shape shape) {
    return g.parameter(name, std::move(shape), graph::Initializer::uniform(1));
  };
  const ValueId hidden = g.add(graph::Conv{same}, {image, kernel("first", {4, 1, 3, 3})});
  const ValueId logits = g.add(graph::Conv{same}, {hidden, kernel("second", {3, 4, 3, 3})});
  const ValueId weights = g.add(graph::FixedClassWeights{.groups = 1}, {});
  const ValueId sums = g.add(graph::SegmentationSums{}, {logits, label, weights});
  g.output(kLossOutput, g.add(graph::WeightedMean{1}, {sums}));
  return drop_dead_nodes().run(differentiate().run(g.take()));
}

TEST(PairGradients, kernel_gradient_comes_right_after_the_gradient_of_the_same_image) {
  const Graph paired = pair_gradients().run(two_layers());
  verify(paired);
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < paired.size(); ++i) {
    const Node& node = paired.nodes()[i];
    const Node& before = paired.nodes()[i - 1];
    if (graph::op_if<graph::ConvKernelGradient>(node) != nullptr &&
        graph::op_if<graph::ConvTranspose>(before) != nullptr) {
      EXPECT_EQ(node.operands[1], before.operands[0]);
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 1U);  // the first layer's image needs no gradient, so its kernel's stays alone
}

TEST(PairGradients, outputs_keep_their_names_and_types) {
  const Graph before = two_layers();
  const Graph after = pair_gradients().run(before);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.outputs.size(); ++i) {
    EXPECT_EQ(after.outputs[i].name, before.outputs[i].name);
    EXPECT_EQ(after.type(after.outputs[i].value), before.type(before.outputs[i].value));
  }
}

}  // namespace
}  // namespace cosmic::compile
