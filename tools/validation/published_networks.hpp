// Networks whose speed or memory somebody published, for holding predictions against them. What our
// ops do not have is replaced by something of about the same cost, as noted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/network.hpp"

namespace cosmic::validation {

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

/// Two convolutions without padding, each with a 2x2 pool, and two layers of products: the network
/// of most MNIST tutorials.
class MnistCnn : public model::Network {
 public:
  struct Widths {
    std::int64_t first = 32;
    std::int64_t second = 64;
    std::int64_t kernel = 3;
    std::int64_t hidden = 128;
  };

  explicit MnistCnn(const Widths& widths) : widths_(widths) {}

  std::string name() const override { return "mnist_cnn"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;

 private:
  Widths widths_;
};

/// Layers of products with ReLU between them; the image is flattened first.
class Perceptron : public model::Network {
 public:
  explicit Perceptron(std::vector<std::int64_t> hidden) : hidden_(std::move(hidden)) {}

  std::string name() const override { return "perceptron"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, model::Phase phase) const override;

 private:
  std::vector<std::int64_t> hidden_;
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

}  // namespace cosmic::validation
