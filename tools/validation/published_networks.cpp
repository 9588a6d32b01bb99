#include "validation/published_networks.hpp"

#include <array>

#include "model/layers.hpp"

namespace cosmic::validation {
namespace {

using graph::Builder;
using graph::ValueId;
using model::Layer;

constexpr std::int64_t kDigits = 10;  // classes of MNIST and Fashion-MNIST

const Layer kRelu = model::apply_op(graph::LeakyRelu{.slope = 0});

ValueId log_probabilities(Builder& g, ValueId x) {
  return g.add(graph::Softmax{.axis = 1, .kind = graph::SoftmaxKind::logarithm}, {x});
}

ValueId flattened(Builder& g, ValueId x) {
  const std::int64_t batch = g.type(x).dim(0);
  return g.add(graph::Reshape{{batch, g.type(x).elements() / batch}}, {x});
}

graph::Window window(std::int64_t stride, std::int64_t pad) {
  return {.stride = {1, stride, stride}, .pad = {0, pad, pad}};
}

ValueId conv_norm(Builder& g, const std::string& name, ValueId x, std::int64_t to,
                  std::int64_t kernel, std::int64_t stride, model::Phase phase) {
  const Builder::Scope scope(g, name);
  const Layer conv = model::convolution(g, "conv",
                                        {.from = g.type(x).dim(1),
                                         .to = to,
                                         .kernel = {kernel, kernel},
                                         .window = window(stride, kernel / 2),
                                         .bias = model::Bias::no});
  const Layer norm = model::batch_norm(g, "norm", {.channels = to, .phase = phase});
  return norm(g, conv(g, x));
}

ValueId bottleneck(Builder& g, const std::string& name, ValueId x, std::int64_t width,
                   std::int64_t stride, model::Phase phase) {
  const Builder::Scope scope(g, name);
  const std::int64_t to = 4 * width;
  ValueId y = kRelu(g, conv_norm(g, "reduce", x, width, 1, 1, phase));
  y = kRelu(g, conv_norm(g, "spatial", y, width, 3, stride, phase));
  y = conv_norm(g, "expand", y, to, 1, 1, phase);
  const ValueId skip =
      g.type(x) == g.type(y) ? x : conv_norm(g, "project", x, to, 1, stride, phase);
  return kRelu(g, g.add(graph::Add{}, {y, skip}));
}

ValueId double_conv(Builder& g, const std::string& name, ValueId x, std::int64_t to,
                    std::int64_t pad) {
  const Builder::Scope scope(g, name);
  for (const char* leaf : {"first", "second"}) {
    const Layer conv = model::convolution(
        g, leaf, {.from = g.type(x).dim(1), .to = to, .kernel = {3, 3}, .window = window(1, pad)});
    x = kRelu(g, conv(g, x));
  }
  return x;
}

/// The middle of `x`.
ValueId cropped(Builder& g, ValueId x, std::int64_t side) {
  for (const std::int64_t axis : {2, 3}) {
    const std::int64_t begin = (g.type(x).dim(static_cast<std::size_t>(axis)) - side) / 2;
    if (begin > 0) {
      x = g.add(graph::Slice{.axis = axis, .begin = begin, .end = begin + side}, {x});
    }
  }
  return x;
}

constexpr int kLevels = 4;  // of the U-Net

/// Side of an enlarged image at each level, for a square one; two convolutions lose `loss` pixels.
std::array<std::int64_t, kLevels> enlarged_sides(std::int64_t side, std::int64_t loss) {
  for (int level = 0; level < kLevels; ++level) {
    side = (side - loss) / 2;
  }
  std::array<std::int64_t, kLevels> sides{};
  for (int level = kLevels - 1; level >= 0; --level) {
    side = 2 * (side - loss);
    sides[static_cast<std::size_t>(level)] = side;
  }
  return sides;
}

}  // namespace

ValueId ResNet50::logits(Builder& g, ValueId image, model::Phase phase) const {
  ValueId x = kRelu(g, conv_norm(g, "stem", image, 64, 7, 2, phase));
  x = g.add(graph::MaxPool{}, {x});
  constexpr int kBlocks[] = {3, 4, 6, 3};
  std::int64_t width = 64;
  for (int stage = 0; stage < 4; ++stage, width *= 2) {
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      x = bottleneck(g, "stage" + std::to_string(stage) + ".block" + std::to_string(block), x,
                     width, stride, phase);
    }
  }
  const std::int64_t side = g.type(x).dim(2);
  x = g.add(graph::MaxPool{.window = {1, side, side}}, {x});
  x = g.add(graph::Reshape{{g.type(x).dim(0), g.type(x).dim(1)}}, {x});
  const Layer classify = model::linear(g, "classify", g.type(x).dim(1), 1000);
  return log_probabilities(g, classify(g, x));
}

ValueId MnistCnn::logits(Builder& g, ValueId image, model::Phase) const {
  ValueId x = image;
  for (const auto& [name, to] : {std::pair{"conv1", widths_.first}, {"conv2", widths_.second}}) {
    const Layer conv = model::convolution(
        g, name, {.from = g.type(x).dim(1), .to = to, .kernel = {widths_.kernel, widths_.kernel}});
    x = kRelu(g, g.add(graph::MaxPool{}, {conv(g, x)}));
  }
  x = flattened(g, x);
  x = kRelu(g, model::linear(g, "fc1", g.type(x).dim(1), widths_.hidden)(g, x));
  return log_probabilities(g, model::linear(g, "fc2", widths_.hidden, kDigits)(g, x));
}

ValueId Perceptron::logits(Builder& g, ValueId image, model::Phase) const {
  ValueId x = flattened(g, image);
  int layer = 0;
  for (const std::int64_t width : hidden_) {
    const std::string name = "fc" + std::to_string(++layer);
    x = kRelu(g, model::linear(g, name, g.type(x).dim(1), width)(g, x));
  }
  return log_probabilities(g, model::linear(g, "last", g.type(x).dim(1), kDigits)(g, x));
}

ValueId SmallCnn::logits(Builder& g, ValueId image, model::Phase) const {
  const Layer first = model::convolution(g, "conv1", {.from = 1, .to = 5, .kernel = {3, 3}});
  ValueId x = g.add(graph::MaxPool{}, {kRelu(g, first(g, image))});
  const Layer second = model::convolution(g, "conv2", {.from = 5, .to = 12, .kernel = {5, 5}});
  x = model::group_norm(g, "norm", 12, 3)(g, kRelu(g, second(g, x)));
  x = flattened(g, x);
  x = kRelu(g, model::linear(g, "fc1", g.type(x).dim(1), 100)(g, x));
  return log_probabilities(g, model::linear(g, "fc2", 100, kDigits)(g, x));
}

ValueId MedicalUNet::logits(Builder& g, ValueId image, model::Phase) const {
  const std::int64_t pad = padding_ == Padding::same ? 1 : 0;
  const std::int64_t loss = padding_ == Padding::same ? 0 : 4;
  const std::array sides = enlarged_sides(g.type(image).dim(2), loss);
  std::vector<ValueId> skips;
  ValueId x = image;
  for (int level = 0; level < kLevels; ++level) {
    x = double_conv(g, "down" + std::to_string(level), x, features_ << level, pad);
    // Cropped where it is made: less to keep, and less to hand on in a pipeline.
    skips.push_back(cropped(g, x, sides[static_cast<std::size_t>(level)]));
    x = g.add(graph::MaxPool{}, {x});
  }
  x = double_conv(g, "deepest", x, features_ << kLevels, pad);
  for (int level = kLevels - 1; level >= 0; --level) {
    const std::string name = "up" + std::to_string(level);
    const Layer up = model::convolution(g, name + ".enlarge",
                                        {.from = g.type(x).dim(1),
                                         .to = features_ << level,
                                         .kernel = {2, 2},
                                         .window = window(2, 0),
                                         .direction = model::Direction::transposed});
    x = up(g, x);
    x = g.add(graph::Concat{.axis = 1}, {skips[static_cast<std::size_t>(level)], x});
    x = double_conv(g, name, x, features_ << level, pad);
  }
  const Layer classify =
      model::convolution(g, "classify", {.from = features_, .to = 2, .kernel = {1, 1}});
  x = classify(g, x);
  x = g.add(graph::Reshape{{g.type(x).elements() / 2, 2}}, {x});
  return log_probabilities(g, x);
}

}  // namespace cosmic::validation
