#include "model/uresnet.hpp"

#include <utility>

#include "core/error.hpp"
#include "model/layers.hpp"
#include "model/planes.hpp"

namespace cosmic::model {
namespace {

using graph::Builder;
using graph::ValueId;

constexpr std::int64_t kClasses = 3;
constexpr double kSlope = 0.01;
constexpr double kReluSlope = 0;

enum class Activation { none, leaky_relu, relu };

/// Declares the modules of one network, each where the current scope says. A method is a module
/// class of the reference and declares its members in the order of the reference.
class Modules {
 public:
  /// `groups`: how many runs of images in the batch have batch statistics of their own.
  Modules(Builder& g, const UResNetOptions& options, Phase phase, std::int64_t groups)
      : g_(g), options_(options), phase_(phase), groups_(groups) {}

  Layer network() const {
    const std::int64_t filters = options_.n_initial_filters;
    return sequence({block("initial_convolution", in_plane(1, filters, 5)),
                     in_scope(g_, "net_core", [&] { return level(0); }),
                     series("final_layer", filters, options_.blocks_final, 3),
                     convolution(g_, "bottleneck", in_plane(filters, kClasses, 1))});
  }

 private:
  bool is_3d() const { return options_.conv_mode == ConvMode::conv_3D; }

  ConvolutionOptions plain(std::int64_t from, std::int64_t to) const {
    return {.from = from,
            .to = to,
            .bias = options_.bias ? Bias::yes : Bias::no,
            // The reference initialises two-dimensional convolutions itself and forgets the others.
            .weights = is_3d() ? WeightRule::fan_in : WeightRule::xavier};
  }

  /// A square kernel that stays within a plane. Odd sizes preserve the image at stride 1.
  ConvolutionOptions in_plane(std::int64_t from, std::int64_t to, std::int64_t size,
                              std::int64_t stride = 1) const {
    const std::int64_t pad = (size - 1) / 2;
    ConvolutionOptions options = plain(from, to);
    options.kernel = is_3d() ? graph::Shape{1, size, size} : graph::Shape{size, size};
    options.window = {.stride = {1, stride, stride}, .pad = {0, pad, pad}};
    return options;
  }

  /// A kernel that sees one pixel of each plane.
  ConvolutionOptions across_planes(std::int64_t from, std::int64_t to) const {
    ConvolutionOptions options = plain(from, to);
    options.kernel = {kPlanes, 1, 1};
    options.window.pad = {1, 0, 0};
    return options;
  }

  Layer block(const std::string& name, const ConvolutionOptions& convolution_options,
              Activation activation = Activation::leaky_relu) const {
    return in_scope(g_, name, [&] {
      std::vector<Layer> steps{convolution(g_, "conv", convolution_options)};
      if (options_.normalization == Normalization::batch) {
        steps.push_back(
            batch_norm(g_, "norm",
                       {.channels = convolution_options.to,
                        .groups = groups_,
                        .phase = phase_,
                        .over = options_.synchronized_statistics ? graph::Over::all_processes
                                                                 : graph::Over::process}));
      }
      if (activation != Activation::none) {
        steps.push_back(
            apply_op(graph::LeakyRelu{activation == Activation::relu ? kReluSlope : kSlope}));
      }
      return sequence(std::move(steps));
    });
  }

  Layer residual_block(const std::string& name, std::int64_t channels, std::int64_t size) const {
    return in_scope(g_, name, [&]() -> Layer {
      const ConvolutionOptions same = in_plane(channels, channels, size);
      Layer first = block("convolution_1", same);
      Layer second = block("convolution_2", same, Activation::none);
      return [first = std::move(first), second = std::move(second)](Builder& g, ValueId x) {
        const ValueId change = second(g, first(g, x));
        return g.add(graph::LeakyRelu{kSlope}, {g.add(graph::Add{}, {change, x})});
      };
    });
  }

  Layer series(const std::string& name, std::int64_t channels, std::int64_t blocks,
               std::int64_t size) const {
    const auto numbered = [&](const std::string& prefix) {
      std::vector<Layer> steps;
      for (std::int64_t i = 0; i < blocks; ++i) {
        const std::string step = prefix + std::to_string(i);
        steps.push_back(options_.residual ? residual_block(step, channels, size)
                                          : block(step, in_plane(channels, channels, size)));
      }
      return sequence(std::move(steps));
    };
    return in_scope(g_, name, [&] {
      return is_3d() ? numbered("block_") : in_scope(g_, "blocks", [&] { return numbered(""); });
    });
  }

  /// Strided convolutions of the reference's 3D network have an activation of their own.
  Activation resampling_activation() const {
    return is_3d() ? Activation::relu : Activation::leaky_relu;
  }

  Layer downsample(std::int64_t from, std::int64_t to) const {
    if (options_.downsampling == Downsampling::convolutional) {
      return block("downsample", in_plane(from, to, 2, 2), resampling_activation());
    }
    return in_scope(g_, "downsample", [&] {
      return sequence({apply_op(graph::MaxPool{}), block("bottleneck", in_plane(from, to, 1))});
    });
  }

  Layer upsample(std::int64_t from, std::int64_t to) const {
    if (options_.upsampling == Upsampling::convolutional) {
      ConvolutionOptions doubled = in_plane(from, to, 2, 2);
      doubled.direction = Direction::transposed;
      doubled.weights = WeightRule::fan_in;
      return block("upsample", doubled, resampling_activation());
    }
    const auto interpolation =
        is_3d() ? graph::Interpolation::nearest : graph::Interpolation::bilinear;
    return in_scope(g_, "upsample", [&] {
      return sequence(
          {apply_op(graph::Upsample{interpolation}), block("bottleneck", in_plane(from, to, 1))});
    });
  }

  using Connection = std::function<ValueId(Builder&, ValueId x, ValueId skip)>;

  Connection connection(std::int64_t channels) const {
    switch (options_.connections) {
      case Connections::sum:
        return [](Builder& g, ValueId x, ValueId skip) {
          const Builder::Scope scope(g, "connection");
          return g.add(graph::Add{}, {x, skip});
        };
      case Connections::concat: {
        const Builder::Scope declaring(g_, "connection");
        return [merge = block("bottleneck", in_plane(2 * channels, channels, 1))](
                   Builder& g, ValueId x, ValueId skip) {
          const Builder::Scope scope(g, "connection");
          return merge(g, g.add(graph::Concat{.axis = 1}, {x, skip}));
        };
      }
      case Connections::none:
        return [](Builder&, ValueId x, ValueId) { return x; };
    }
    throw InternalError("unknown kind of connection");
  }

  Layer deepest(std::int64_t channels) const {
    const std::int64_t inside = options_.bottleneck_deepest;
    const auto blocks = [&](const Modules& modules) {
      return modules.series("blocks", inside, options_.blocks_deepest_layer,
                            options_.filter_size_deepest);
    };
    if (is_3d()) {
      return sequence({block("merger", across_planes(channels, inside)), blocks(*this),
                       block("splitter", across_planes(inside, channels))});
    }
    if (options_.block_concat) {
      return sequence({block("bottleneck", in_plane(channels, inside, 1)), blocks(*this),
                       block("unbottleneck", in_plane(inside, channels, 1))});
    }
    const Modules merged(g_, options_, phase_, 1);
    const std::int64_t together = kPlanes * channels;
    return sequence({apply_op(graph::PlanesToChannels{kPlanes}),
                     merged.block("bottleneck", in_plane(together, inside, 1)), blocks(merged),
                     merged.block("unbottleneck", in_plane(inside, together, 1)),
                     apply_op(graph::ChannelsToPlanes{kPlanes})});
  }

  /// One level of the U with all that is below it.
  Layer level(std::int64_t depth) const {
    const std::int64_t channels = channels_at(options_, depth);
    if (depth == options_.depth) {
      return in_scope(g_, "main_module", [&] { return deepest(channels); });
    }
    const std::int64_t deeper = channels_at(options_, depth + 1);
    Layer down_blocks = series("down_blocks", channels, options_.blocks_per_layer, 3);
    Layer down = downsample(channels, deeper);
    Layer below = in_scope(g_, "main_module", [&] { return level(depth + 1); });
    Layer up = upsample(deeper, channels);
    Layer up_blocks = series("up_blocks", channels, options_.blocks_per_layer, 3);
    Connection connect = connection(channels);
    const Layer through = sequence({std::move(down), std::move(below), std::move(up)});
    // In the reference the skip connection leaves before the down series and joins before the up
    // series in 2D; in 3D it does both after them.
    if (is_3d()) {
      return [=](Builder& g, ValueId x) {
        const ValueId skip = down_blocks(g, x);
        return connect(g, up_blocks(g, through(g, skip)), skip);
      };
    }
    return [=](Builder& g, ValueId x) {
      return up_blocks(g, connect(g, through(g, down_blocks(g, x)), x));
    };
  }

  Builder& g_;
  const UResNetOptions& options_;
  Phase phase_;
  std::int64_t groups_;
};

}  // namespace

UResNet::UResNet(UResNetOptions options) : options_(std::move(options)) {
  validate(options_);
}

ValueId UResNet::logits(Builder& g, ValueId image, Phase phase) const {
  const graph::TensorType type = g.type(image);
  COSMIC_REQUIRE(ShapeError, type.rank() == 4 && type.dim(1) == kPlanes,
                 "a U-ResNet was given an image " << type << " (it needs batch x " << kPlanes
                                                  << " planes x rows x columns); check the order "
                                                     "of the axes");
  const std::int64_t rows = type.dim(2);
  const std::int64_t columns = type.dim(3);
  validate(options_, rows, columns);
  if (options_.conv_mode == ConvMode::conv_3D) {
    const Layer network = Modules(g, options_, phase, 1).network();
    const ValueId volume = g.add(graph::Reshape{{type.dim(0), 1, kPlanes, rows, columns}}, {image});
    return g.add(graph::DepthToPlanes{}, {network(g, volume)});
  }
  const bool shared = options_.plane_statistics == PlaneStatistics::shared;
  const Layer network = Modules(g, options_, phase, shared ? 1 : kPlanes).network();
  return network(g, g.add(graph::ChannelsToPlanes{kPlanes}, {image}));
}

}  // namespace cosmic::model
