#include "model/published_networks.hpp"

#include <array>
#include <functional>

#include "core/error.hpp"
#include "core/nearest_name.hpp"
#include "model/layers.hpp"

namespace cosmic::model {
namespace {

using graph::Builder;
using graph::ValueId;

constexpr std::int64_t kDigits = 10;  // classes of MNIST and Fashion-MNIST

const Layer kRelu = apply_op(graph::LeakyRelu{.slope = 0});

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
                  std::int64_t kernel, std::int64_t stride, Phase phase) {
  const Builder::Scope scope(g, name);
  const Layer conv = convolution(g, "conv",
                                 {.from = g.type(x).dim(1),
                                  .to = to,
                                  .kernel = {kernel, kernel},
                                  .window = window(stride, kernel / 2),
                                  .bias = Bias::no});
  const Layer norm = batch_norm(g, "norm", {.channels = to, .phase = phase});
  return norm(g, conv(g, x));
}

ValueId bottleneck(Builder& g, const std::string& name, ValueId x, std::int64_t width,
                   std::int64_t stride, Phase phase) {
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
    const Layer conv = convolution(
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

/// Side of an enlarged image at each level, for a square one; two convolutions lose `loss` pixels.
std::vector<std::int64_t> enlarged_sides(std::size_t levels, std::int64_t side, std::int64_t loss) {
  for (std::size_t level = 0; level < levels; ++level) {
    side = (side - loss) / 2;
  }
  std::vector<std::int64_t> sides(levels);
  for (std::size_t level = levels; level-- > 0;) {
    side = 2 * (side - loss);
    sides[level] = side;
  }
  return sides;
}

using Padding = PublishedUNet::Padding;

struct Entry {
  std::string_view name;
  std::string_view about;
  graph::Shape image;
  std::function<std::unique_ptr<Network>()> make;
};

template <class Made, class... Arguments>
std::function<std::unique_ptr<Network>()> maker(Arguments... arguments) {
  return [arguments...] { return std::make_unique<Made>(arguments...); };
}

const std::vector<Entry>& entries() {
  using Widths = std::vector<std::int64_t>;
  static const std::vector<Entry> all{
      {"resnet50", "ResNet-50 v1.5, 224x224, 1000 classes", {3, 224, 224}, maker<ResNet50>()},
      {"unet-medical",
       "U-Net 572x572, unpadded, 64 to 1024 channels",
       {1, 572, 572},
       maker<PublishedUNet>(Widths{64, 128, 256, 512, 1024}, Padding::valid)},
      {"unet-256",
       "U-Net 256x256, padded, 32 to 512 channels",
       {3, 256, 256},
       maker<PublishedUNet>(Widths{32, 64, 128, 256, 512}, Padding::same)},
      {"unet-industrial",
       "U-Net 512x512, padded, 32 to 256 channels",
       {1, 512, 512},
       maker<PublishedUNet>(Widths{32, 32, 64, 128, 256}, Padding::same)},
      {"fashion-mnist",
       "the CNN of the Fashion-MNIST tutorial, 28x28",
       {1, 28, 28},
       maker<SmallCnn>()},
      {"small-cnn", "the same for 128x128", {1, 128, 128}, maker<SmallCnn>()},
      {"mnist-cnn",
       "convolutions 32 and 64, 3x3, hidden layer of 128, 28x28",
       {1, 28, 28},
       maker<MnistCnn>(MnistCnn::Widths{})},
      {"mnist-cnn-small",
       "convolutions 10 and 20, 5x5, hidden layer of 50, 28x28",
       {1, 28, 28},
       maker<MnistCnn>(MnistCnn::Widths{.first = 10, .second = 20, .kernel = 5, .hidden = 50})},
      {"mnist-mlp", "perceptron 784-128-10", {1, 28, 28}, maker<Perceptron>(Widths{128})},
      {"mnist-mlp-deep",
       "perceptron 784-512-512-512-10",
       {1, 28, 28},
       maker<Perceptron>(Widths{512, 512, 512})},
  };
  return all;
}

}  // namespace

ValueId ResNet50::logits(Builder& g, ValueId image, Phase phase) const {
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
  const Layer classify = linear(g, "classify", g.type(x).dim(1), 1000);
  return log_probabilities(g, classify(g, x));
}

ValueId MnistCnn::logits(Builder& g, ValueId image, Phase) const {
  ValueId x = image;
  for (const auto& [name, to] : {std::pair{"conv1", widths_.first}, {"conv2", widths_.second}}) {
    const Layer conv = convolution(
        g, name, {.from = g.type(x).dim(1), .to = to, .kernel = {widths_.kernel, widths_.kernel}});
    x = kRelu(g, g.add(graph::MaxPool{}, {conv(g, x)}));
  }
  x = flattened(g, x);
  x = kRelu(g, linear(g, "fc1", g.type(x).dim(1), widths_.hidden)(g, x));
  return log_probabilities(g, linear(g, "fc2", widths_.hidden, kDigits)(g, x));
}

ValueId Perceptron::logits(Builder& g, ValueId image, Phase) const {
  ValueId x = flattened(g, image);
  int layer = 0;
  for (const std::int64_t width : hidden_) {
    const std::string name = "fc" + std::to_string(++layer);
    x = kRelu(g, linear(g, name, g.type(x).dim(1), width)(g, x));
  }
  return log_probabilities(g, linear(g, "last", g.type(x).dim(1), kDigits)(g, x));
}

ValueId SmallCnn::logits(Builder& g, ValueId image, Phase) const {
  const Layer first = convolution(g, "conv1", {.from = 1, .to = 5, .kernel = {3, 3}});
  ValueId x = g.add(graph::MaxPool{}, {kRelu(g, first(g, image))});
  const Layer second = convolution(g, "conv2", {.from = 5, .to = 12, .kernel = {5, 5}});
  x = group_norm(g, "norm", 12, 3)(g, kRelu(g, second(g, x)));
  x = flattened(g, x);
  x = kRelu(g, linear(g, "fc1", g.type(x).dim(1), 100)(g, x));
  return log_probabilities(g, linear(g, "fc2", 100, kDigits)(g, x));
}

ValueId PublishedUNet::logits(Builder& g, ValueId image, Phase) const {
  const std::int64_t pad = padding_ == Padding::same ? 1 : 0;
  const std::int64_t loss = padding_ == Padding::same ? 0 : 4;
  const std::size_t levels = widths_.size() - 1;
  const std::vector<std::int64_t> sides = enlarged_sides(levels, g.type(image).dim(2), loss);
  std::vector<ValueId> skips;
  ValueId x = image;
  for (std::size_t level = 0; level < levels; ++level) {
    x = double_conv(g, "down" + std::to_string(level), x, widths_[level], pad);
    // Cropped where it is made: less to keep, and less to hand on in a pipeline.
    skips.push_back(cropped(g, x, sides[level]));
    x = g.add(graph::MaxPool{}, {x});
  }
  x = double_conv(g, "deepest", x, widths_.back(), pad);
  for (std::size_t level = levels; level-- > 0;) {
    const std::string name = "up" + std::to_string(level);
    const Layer up = convolution(g, name + ".enlarge",
                                 {.from = g.type(x).dim(1),
                                  .to = widths_[level],
                                  .kernel = {2, 2},
                                  .window = window(2, 0),
                                  .direction = Direction::transposed});
    x = up(g, x);
    x = g.add(graph::Concat{.axis = 1}, {skips[level], x});
    x = double_conv(g, name, x, widths_[level], pad);
  }
  const Layer classify =
      convolution(g, "classify", {.from = widths_.front(), .to = 2, .kernel = {1, 1}});
  x = classify(g, x);
  x = g.add(graph::Reshape{{g.type(x).elements() / 2, 2}}, {x});
  return log_probabilities(g, x);
}

PublishedNetwork find_published_network(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries()) {
    if (entry.name == name) {
      return {std::string(entry.name), std::string(entry.about), entry.image, entry.make()};
    }
    names.push_back(entry.name);
  }
  throw UserError("there is no published network '" + std::string(name) + "' (did you mean '" +
                  std::string(nearest_name(name, names)) + "'?); there are " +
                  published_network_list());
}

std::string published_network_list() {
  std::string text;
  for (const Entry& entry : entries()) {
    text += (text.empty() ? "" : "; ") + std::string(entry.name) + " (" + std::string(entry.about) +
            ")";
  }
  return text;
}

}  // namespace cosmic::model
