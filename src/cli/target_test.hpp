// `cosmictagger test`: does a target compute what the reference target computes?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"

namespace cosmic::cli {

/// One tensor of a training step on two targets.
struct TensorDifference {
  std::string name;
  double largest = 0;   ///< of |target - reference|
  double relative = 0;  ///< the same, by the scale of the tensor
  bool within = true;   ///< the tolerance
};

struct TargetTest {
  std::vector<TensorDifference> tensors;  ///< loss, logits, the gradient of every parameter
  bool passed() const;
  const TensorDifference& worst() const;
};

/// Runs one training step on both targets, with the same weights and the same events: those of
/// data.file if it is there, else generated ones. A tensor is within the tolerance if it differs by
/// no more than so much of its largest element.
TargetTest test_target(const config::Configuration& configuration, const std::string& target,
                       const data::DenseShape& shape, double tolerance);

}  // namespace cosmic::cli
