// Networks whose speed or memory somebody published on many machines, for holding predictions
// against them. They are never trained here. What our ops do not have is replaced by something of
// about the same cost, as noted.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/network.hpp"

namespace cosmic::model {

/// Image [N, 3, 224, 224] to log probabilities [N, 1000]. Pools are 2x2 instead of overlapping 3x3,
/// and the last one takes the largest instead of the mean.
class ResNet50 : public Network {
 public:
  std::string name() const override { return "resnet50"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;
};

/// The Fashion-MNIST tutorial's network for square images of any size.
class SmallCnn : public Network {
 public:
  std::string name() const override { return "small_cnn"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;
};

/// Two convolutions without padding, each with a 2x2 pool, and two layers of products: the network
/// of most MNIST tutorials.
class MnistCnn : public Network {
 public:
  struct Widths {
    std::int64_t first = 32;
    std::int64_t second = 64;
    std::int64_t kernel = 3;
    std::int64_t hidden = 128;
  };

  explicit MnistCnn(const Widths& widths) : widths_(widths) {}

  std::string name() const override { return "mnist_cnn"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  Widths widths_;
};

/// Layers of products with ReLU between them; the image is flattened first.
class Perceptron : public Network {
 public:
  explicit Perceptron(std::vector<std::int64_t> hidden) : hidden_(std::move(hidden)) {}

  std::string name() const override { return "perceptron"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  std::vector<std::int64_t> hidden_;
};

/// A U-Net, two 3x3 convolutions on each level. Logits come as [pixels, 2] in any order.
class PublishedUNet : public Network {
 public:
  /// valid: convolutions without padding, skip connections cropped, as published for 572x572.
  enum class Padding { valid, same };

  /// Channels of each level, from the images to the deepest.
  PublishedUNet(std::vector<std::int64_t> widths, Padding padding)
      : widths_(std::move(widths)), padding_(padding) {}

  std::string name() const override { return "unet"; }
  graph::ValueId logits(graph::Builder& g, graph::ValueId image, Phase phase) const override;

 private:
  std::vector<std::int64_t> widths_;
  Padding padding_;
};

struct PublishedNetwork {
  std::string name;
  std::string about;
  graph::Shape image;  ///< channels, rows, columns
  std::unique_ptr<Network> network;
};

/// By its name in `explain --published`. Throws UserError that lists all names.
PublishedNetwork find_published_network(std::string_view name);
/// "resnet50 (ResNet-50, 224x224), ...", for help.
std::string published_network_list();

}  // namespace cosmic::model
