// The small classifier of the Fashion-MNIST tutorial: ten kinds of clothing in 28 x 28 pixels.
#pragma once

#include <array>

#include "model/enum_text.hpp"
#include "model/network.hpp"

namespace cosmic::model {

/// What probabilities add up to one over. The tutorial normalises over the batch, by mistake; its
/// published accuracy was reached so.
enum class SoftmaxAxis { batch, classes };

template <>
struct EnumText<SoftmaxAxis> {
  static constexpr std::string_view key = "softmax_axis";
  static constexpr std::array<std::string_view, 2> names{"batch", "classes"};
};

/// Image f32 [N, 1, 28, 28] to log probabilities [N, 10].
class FashionMnist : public Network {
 public:
  explicit FashionMnist(SoftmaxAxis axis = SoftmaxAxis::classes) : axis_(axis) {}

  std::string name() const override { return "fashion_mnist"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  SoftmaxAxis axis_;
};

/// Log probabilities [N, classes], labels u8 [N]. Mean over the batch.
class NegativeLogLikelihoodLoss : public Loss {
 public:
  graph::ValueId loss(graph::Builder& g, graph::ValueId log_probabilities,
                      graph::ValueId labels) const override;
};

}  // namespace cosmic::model
