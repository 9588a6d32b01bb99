#include "model/fashion_mnist.hpp"

#include "core/error.hpp"
#include "model/layers.hpp"

namespace cosmic::model {

using graph::Builder;
using graph::ValueId;

ValueId FashionMnist::logits(Builder& g, ValueId image, Phase) const {
  const graph::TensorType type = g.type(image);
  COSMIC_REQUIRE(ShapeError,
                 type.rank() == 4 && type.shape == (graph::Shape{type.dim(0), 1, 28, 28}),
                 "the Fashion-MNIST network was given an image "
                     << type << " (its linear layers need batch x 1 x 28 x 28); crop or pad "
                     << "the images to 28 x 28");
  const Layer relu = apply_op(graph::LeakyRelu{.slope = 0});
  const std::int64_t flat = 12 * 9 * 9;
  const Layer network = sequence({
      convolution(g, "conv1", {.from = 1, .to = 5, .kernel = {3, 3}}),
      relu,
      apply_op(graph::MaxPool{}),
      convolution(g, "conv2", {.from = 5, .to = 12, .kernel = {5, 5}}),
      relu,
      group_norm(g, "norm", 12, 3),
      apply_op(graph::Reshape{{type.dim(0), flat}}),
      linear(g, "fc1", flat, 100),
      relu,
      linear(g, "fc2", 100, 10),
      apply_op(graph::Softmax{.axis = axis_ == SoftmaxAxis::classes ? 1 : 0,
                              .kind = graph::SoftmaxKind::logarithm}),
  });
  return network(g, image);
}

ValueId NegativeLogLikelihoodLoss::loss(Builder& g, ValueId log_probabilities,
                                        ValueId labels) const {
  const Builder::Scope scope(g, "loss");
  return g.add(graph::NegativeLogLikelihood{}, {log_probabilities, labels});
}

}  // namespace cosmic::model
