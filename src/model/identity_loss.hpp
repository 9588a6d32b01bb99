// A loss of one's own: any expression of logits and labels, reduced to one number. PopTorch calls
// it identity_loss.
//
//   const model::IdentityLoss loss([](graph::Builder& g, graph::ValueId logits, graph::ValueId) {
//     return g.add(graph::LeakyRelu{.slope = 0}, {logits});
//   }, model::LossReduction::mean);
#pragma once

#include <functional>

#include "model/network.hpp"

namespace cosmic::model {

/// What becomes of the elements of the expression; `none` is for one that is a scalar already.
enum class LossReduction { sum, mean, none };

class IdentityLoss final : public Loss {
 public:
  using Expression = std::function<graph::ValueId(graph::Builder& g, graph::ValueId logits,
                                                  graph::ValueId labels)>;

  IdentityLoss(Expression expression, LossReduction reduction)
      : expression_(std::move(expression)), reduction_(reduction) {}

  /// Throws ShapeError if the expression cannot be reduced as it was asked to.
  graph::ValueId loss(graph::Builder& g, graph::ValueId logits,
                      graph::ValueId labels) const override;

 private:
  Expression expression_;
  LossReduction reduction_;
};

}  // namespace cosmic::model
