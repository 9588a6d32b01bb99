// What to compute, without a word about where: a network turns an image into logits, a loss turns
// logits and labels into a number. Both are written with graph::Builder only.
#pragma once

#include <string>

#include "graph/builder.hpp"

namespace cosmic::model {

enum class Phase { training, evaluation };

class Network {
 public:
  virtual ~Network() = default;
  virtual std::string name() const = 0;
  /// Appends the network to the program and returns its logits. In training the program also
  /// updates running statistics. Parameters are declared on the way, under the reference's names.
  virtual graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const = 0;
};

class Loss {
 public:
  virtual ~Loss() = default;
  /// Appends the loss and returns it, a scalar. May add outputs of its own, such as scores.
  virtual graph::ValueId loss(graph::Builder& g, graph::ValueId logits,
                              graph::ValueId labels) const = 0;
};

}  // namespace cosmic::model
