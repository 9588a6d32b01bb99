// Layers that networks are made of. Declaring a layer and applying it are two steps, as in the
// reference: parameters are declared in the order in which a checkpoint lists them, layers are
// applied in the order in which an image passes through them, and the two orders differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/builder.hpp"
#include "model/network.hpp"

namespace cosmic::model {

/// A layer whose parameters have been declared in the builder it is later called with.
using Layer = std::function<graph::ValueId(graph::Builder&, graph::ValueId)>;

/// Declares a layer inside the scope `name`; it is applied inside the same scope.
template <class Declare>
Layer in_scope(graph::Builder& g, const std::string& name, const Declare& declare) {
  const graph::Builder::Scope scope(g, name);
  return [name, layer = Layer(declare())](graph::Builder& b, graph::ValueId x) {
    const graph::Builder::Scope inner(b, name);
    return layer(b, x);
  };
}

/// One after the other; none at all hands its operand through.
Layer sequence(std::vector<Layer> layers);

/// A layer without parameters.
Layer apply_op(graph::AnyOp op);

enum class Bias { no, yes };
enum class Direction { forward, transposed };
/// xavier: uniform within sqrt(6 / (fan_in + fan_out)), no bias. fan_in: weights and bias uniform
/// within 1 / sqrt(fan_in), the default of PyTorch.
enum class WeightRule { xavier, fan_in };

struct ConvolutionOptions {
  std::int64_t from = 1;  ///< channels
  std::int64_t to = 1;
  graph::Shape kernel = {};  ///< spatial extents: two, or three for an image with depth
  graph::Window window = {};
  Bias bias = Bias::yes;
  Direction direction = Direction::forward;
  WeightRule weights = WeightRule::fan_in;
};

/// States: name.weight, name.bias.
Layer convolution(graph::Builder& g, const std::string& name, const ConvolutionOptions& options);

struct BatchNormOptions {
  std::int64_t channels = 1;
  std::int64_t groups = 1;  ///< runs of images with statistics of their own
  Phase phase = Phase::training;
  /// Whose batch statistics normalise in training.
  graph::Over over = graph::Over::process;
};

/// States: name.weight, .bias, .running_mean, .running_var, .num_batches_tracked. In training the
/// program updates the last three, once per group.
Layer batch_norm(graph::Builder& g, const std::string& name, const BatchNormOptions& options);

/// States: name.weight, name.bias. Each image has `groups` groups of neighbouring channels.
Layer group_norm(graph::Builder& g, const std::string& name, std::int64_t channels,
                 std::int64_t groups);

/// x [N, from] to [N, to]. States: name.weight [to, from], name.bias.
Layer linear(graph::Builder& g, const std::string& name, std::int64_t from, std::int64_t to);

}  // namespace cosmic::model
