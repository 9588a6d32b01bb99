// Programs whose speed or memory somebody published, for holding predictions against them. What our
// ops do not have is replaced by what costs about the same, and said so.
#pragma once

#include "compile/optimizer.hpp"
#include "compile/precision.hpp"
#include "graph/graph.hpp"
#include "model/network.hpp"

namespace cosmic::machine_test {

/// Image [N, 3, 224, 224] to log probabilities [N, 1000]. Pools are 2x2 instead of overlapping 3x3,
/// and the last one takes the largest instead of the mean.
class ResNet50 : public model::Network {
 public:
  std::string name() const override { return "resnet50"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;
};

/// The Fashion-MNIST tutorial's network for square images of any size.
class SmallCnn : public model::Network {
 public:
  std::string name() const override { return "small_cnn"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;
};

/// The U-Net of four levels, two 3x3 convolutions each. Logits come as [pixels, 2] in any order.
class MedicalUNet : public model::Network {
 public:
  /// valid: convolutions without padding, skip connections cropped, as published for 572x572.
  enum class Padding { valid, same };

  MedicalUNet(std::int64_t features, Padding padding) : features_(features), padding_(padding) {}

  std::string name() const override { return "unet"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;

 private:
  std::int64_t features_;
  Padding padding_;
};

/// store: every result of an op is kept. activations_in_place: those of ReLU take the place of
/// their operand, as PyTorch's in-place ReLU does. recompute: whatever is computed pixel by pixel
/// has no memory of its own, as where a compiler fuses it.
enum class LocalValues { store, activations_in_place, recompute };

struct ProgramOptions {
  compile::Precision precision = {};
  LocalValues local_values = LocalValues::store;
  compile::Optimizer optimizer = compile::Sgd{.momentum = 0.9};
};

/// Forward, negative log likelihood, backward, update.
graph::Graph training_program(const model::Network& network, graph::Shape image,
                              const ProgramOptions& options);
graph::Graph inference_program(const model::Network& network, graph::Shape image,
                               const ProgramOptions& options);
/// Of CosmicTagger, with its own loss; image [batch, 3, rows, columns].
graph::Graph tagger_training_program(const model::Network& network, graph::Shape image,
                                     const ProgramOptions& options);

}  // namespace cosmic::machine_test
