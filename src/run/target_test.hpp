// Does a target compute what the reference target computes?
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "config/configuration.hpp"
#include "data/dense_image.hpp"
#include "model/uresnet_options.hpp"

namespace cosmic::run {

using NamedValues = std::vector<std::pair<std::string, std::vector<float>>>;

/// One tensor of a training step on two targets. Differences are in parts of its largest element.
struct TensorDifference {
  enum class Verdict {
    within,    ///< the tolerance
    rounding,  ///< no more than rounding can do to it, so nothing is known
    outside,
  };

  std::string name;
  double largest = 0;   ///< of |target - reference|, as it is
  double relative = 0;  ///< the same, by the largest element
  double rounding = 0;  ///< what rounding images and weights does on the reference target
  Verdict verdict = Verdict::within;
};

struct TargetTest {
  std::vector<TensorDifference> tensors;  ///< loss, logits, the gradient of every parameter

  std::size_t count(TensorDifference::Verdict verdict) const;
  bool passed() const { return count(TensorDifference::Verdict::outside) == 0; }
  const TensorDifference& worst() const;
};

struct TestTolerance {
  /// Room for a few pixels that land on the other side of an activation's kink: up to 3e-3 was seen
  /// between sound targets, while a wrong gradient is wrong altogether.
  double relative = 1e-2;
  /// How many times the effect of rounding images and weights once is still rounding: a step rounds
  /// every value.
  double rounding_factor = 10;
};

/// `rounded` are the values of `reference` for images and weights that were rounded.
TargetTest compare(const NamedValues& target, const NamedValues& reference,
                   const NamedValues& rounded, const TestTolerance& tolerance);

/// The smallest that leaves a batch of one something to normalise at the deepest layer: the
/// reference target takes its time.
data::DenseShape smallest_image(const model::UResNetOptions& network);

/// Runs one training step on both targets, with the same weights and the same events: those of
/// data.file if it is there, else generated ones.
TargetTest test_target(const config::Configuration& configuration, const std::string& target,
                       const data::DenseShape& shape, const TestTolerance& tolerance);

}  // namespace cosmic::run
