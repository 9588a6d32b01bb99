#include "model/layers.hpp"

#include <cmath>
#include <optional>

#include "core/error.hpp"

namespace cosmic::model {
namespace {

using graph::Builder;
using graph::DType;
using graph::Initializer;
using graph::Shape;
using graph::StateKind;
using graph::TensorType;
using graph::ValueId;

double within_fan_in(std::int64_t fan_in) {
  return 1.0 / std::sqrt(static_cast<double>(fan_in));
}

/// The spatial extents of the image that a transposed convolution makes out of `small`.
Shape enlarged(const TensorType& small, const Shape& kernel, const graph::Window& window) {
  Shape image;
  const std::size_t axes = kernel.size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t in_window = axis + 3 - axes;
    image.push_back((small.dim(axis + 2) - 1) * window.stride[in_window] -
                    2 * window.pad[in_window] + kernel[axis]);
  }
  return image;
}

struct BatchNormStates {
  ValueId weight;
  ValueId bias;
  ValueId running_mean;
  ValueId running_var;
  ValueId num_batches_tracked;
};

BatchNormStates declare_batch_norm(Builder& g, std::int64_t channels) {
  const auto buffer = [&](const std::string& name, double value) {
    return g.state(g.scoped(name), {DType::f32, {channels}}, StateKind::buffer,
                   Initializer::constant(value));
  };
  // Braces evaluate in order: this is the order of a checkpoint.
  return {g.parameter(g.scoped("weight"), {channels}, Initializer::constant(1)),
          g.parameter(g.scoped("bias"), {channels}, Initializer::constant(0)),
          buffer("running_mean", 0), buffer("running_var", 1),
          g.state(g.scoped("num_batches_tracked"), {DType::i64, {}}, StateKind::buffer,
                  Initializer::constant(0))};
}

/// Mean and variance of the batch, which the running statistics take notice of.
ValueId observe_batch(Builder& g, ValueId x, const BatchNormStates& states,
                      const BatchNormOptions& options) {
  const std::int64_t groups = options.groups;
  const graph::FeatureMap map = graph::feature_map(g.type(x), "the operand of batch norm");
  const std::int64_t count = map.batch / groups * map.pixels();
  COSMIC_REQUIRE(ShapeError, count > 1,
                 g.scoped("running_var")
                     << " would be estimated from " << count << " value per channel of "
                     << g.type(x) << " in " << groups
                     << " groups (a single value has no variance); use a "
                     << "larger batch, a larger image or a smaller depth");
  const ValueId statistics = g.add(graph::Statistics{.groups = groups, .over = options.over}, {x});
  using Of = graph::RunningUpdate::Of;
  const auto observe = [&](ValueId running, Of of) {
    g.update(running, g.add(graph::RunningUpdate{.of = of, .momentum = 0.1, .count = count},
                            {running, statistics}));
  };
  observe(states.running_mean, Of::mean);
  observe(states.running_var, Of::variance);
  g.update(states.num_batches_tracked,
           g.add(graph::Increment{groups}, {states.num_batches_tracked}));
  return statistics;
}

/// The running statistics in the form of Statistics: [2, 1, channels].
ValueId remembered_statistics(Builder& g, const BatchNormStates& states) {
  const auto row = [&](ValueId running) {
    return g.add(graph::Reshape{{1, 1, g.type(running).dim(0)}}, {running});
  };
  const ValueId mean = row(states.running_mean);
  const ValueId variance = row(states.running_var);
  return g.add(graph::Concat{.axis = 0}, {mean, variance});
}

ValueId normalize(Builder& g, ValueId x, ValueId statistics, ValueId weight, ValueId bias) {
  const ValueId coefficients = g.add(graph::NormCoefficients{}, {statistics, weight, bias});
  return g.add(graph::ChannelAffine{}, {x, coefficients});
}

}  // namespace

Layer sequence(std::vector<Layer> layers) {
  return [layers = std::move(layers)](Builder& g, ValueId x) {
    for (const Layer& layer : layers) {
      x = layer(g, x);
    }
    return x;
  };
}

Layer apply_op(graph::AnyOp op) {
  return [op = std::move(op)](Builder& g, ValueId x) { return g.add(op, {x}); };
}

Layer convolution(Builder& g, const std::string& name, const ConvolutionOptions& options) {
  return in_scope(g, name, [&]() -> Layer {
    const bool transposed = options.direction == Direction::transposed;
    Shape shape = transposed ? Shape{options.from, options.to} : Shape{options.to, options.from};
    shape.insert(shape.end(), options.kernel.begin(), options.kernel.end());
    const std::int64_t volume = TensorType{DType::f32, options.kernel}.elements();
    // PyTorch reads fan_in off axis 1, which in a transposed kernel is the outputs.
    const double fan_in = within_fan_in(shape[1] * volume);
    const double xavier =
        std::sqrt(6.0 / static_cast<double>((options.from + options.to) * volume));
    const bool is_xavier = options.weights == WeightRule::xavier;
    const ValueId weight =
        g.parameter(g.scoped("weight"), shape, Initializer::uniform(is_xavier ? xavier : fan_in));
    std::optional<ValueId> bias;
    if (options.bias == Bias::yes) {
      bias = g.parameter(g.scoped("bias"), {options.to},
                         is_xavier ? Initializer::constant(0) : Initializer::uniform(fan_in));
    }
    return [=](Builder& b, ValueId x) {
      std::vector<ValueId> operands{x, weight};
      if (bias) {
        operands.push_back(*bias);
      }
      if (transposed) {
        const Shape image = enlarged(b.type(x), options.kernel, options.window);
        return b.add(graph::ConvTranspose{options.window, image}, operands);
      }
      return b.add(graph::Conv{options.window}, operands);
    };
  });
}

Layer batch_norm(Builder& g, const std::string& name, const BatchNormOptions& options) {
  return in_scope(g, name, [&]() -> Layer {
    return [states = declare_batch_norm(g, options.channels), options](Builder& b, ValueId x) {
      const ValueId statistics = options.phase == Phase::training
                                     ? observe_batch(b, x, states, options)
                                     : remembered_statistics(b, states);
      return normalize(b, x, statistics, states.weight, states.bias);
    };
  });
}

Layer group_norm(Builder& g, const std::string& name, std::int64_t channels, std::int64_t groups) {
  return in_scope(g, name, [&]() -> Layer {
    const ValueId weight = g.parameter(g.scoped("weight"), {channels}, Initializer::constant(1));
    const ValueId bias = g.parameter(g.scoped("bias"), {channels}, Initializer::constant(0));
    return [=](Builder& b, ValueId x) {
      const ValueId statistics = b.add(
          graph::Statistics{.groups = b.type(x).dim(0), .pooled_channels = channels / groups}, {x});
      return normalize(b, x, statistics, weight, bias);
    };
  });
}

Layer linear(Builder& g, const std::string& name, std::int64_t from, std::int64_t to) {
  return in_scope(g, name, [&]() -> Layer {
    const Initializer initializer = Initializer::uniform(within_fan_in(from));
    const ValueId weight = g.parameter(g.scoped("weight"), {to, from}, initializer);
    const ValueId bias = g.parameter(g.scoped("bias"), {to}, initializer);
    return [=](Builder& b, ValueId x) {
      const graph::MatMul times_transposed{graph::Transposed::no, graph::Transposed::yes};
      return b.add(graph::ChannelBias{}, {b.add(times_transposed, {x, weight}), bias});
    };
  });
}

}  // namespace cosmic::model
