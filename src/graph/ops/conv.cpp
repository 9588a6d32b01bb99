#include "graph/ops/conv.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

// A two-dimensional image has the spatial axes (row, column), the last two of a window's three.
std::size_t window_axis(const TensorType& image, std::size_t axis) {
  return axis - 2 + (5 - image.rank());
}

void require_image_and_kernel(std::string_view op, const TensorType& image,
                              const TensorType& kernel) {
  COSMIC_REQUIRE(ShapeError, image.rank() == 4 || image.rank() == 5,
                 op << " of " << image << " (an image has rank 4 or 5: batch, channel, space)");
  COSMIC_REQUIRE(ShapeError, kernel.rank() == image.rank(),
                 op << " of image " << image << " with kernel " << kernel
                    << " (both must have the same number of axes)");
}

void require_bias_and_addend(std::string_view op, Types in, std::int64_t filters,
                             const TensorType& result) {
  COSMIC_REQUIRE(
      ShapeError, in.size() < 3 || in[2].shape == Shape{filters},
      op << " bias is " << in[2] << " (it needs one number for each of " << filters << " filters)");
  COSMIC_REQUIRE(
      ShapeError, in.size() < 4 || in[3] == result,
      op << " addend is " << in[3] << " (it must be shaped as the result, " << result << ")");
}

Shape spatial(const TensorType& type) {
  return {type.shape.begin() + 2, type.shape.end()};
}

double macs(const TensorType& kernel, const TensorType& convolved) {
  return static_cast<double>(kernel.elements()) *
         static_cast<double>(convolved.elements() / convolved.dim(1));
}

// Bias and addend are added to the result, so their gradients are the plainest there are.
void add_bias_and_addend(Adjoints& adjoints, Builder& g, const GradientArgs& args) {
  if (args.in.size() > 2) {
    adjoints.of.push_back(g.add(ChannelSum{}, {args.dy}));
  }
  if (args.in.size() > 3) {
    adjoints.of.push_back(args.dy);
  }
}

}  // namespace

TensorType Conv::infer(const Conv& op, Types in) {
  const TensorType& image = in[0];
  const TensorType& kernel = in[1];
  require_image_and_kernel(name, image, kernel);
  COSMIC_REQUIRE(ShapeError, image.dim(1) == kernel.dim(1),
                 "conv channel mismatch: image " << image << ", kernel " << kernel
                                                 << " (axis 1 must agree); was a skip connection "
                                                    "concatenated twice?");
  TensorType result{image.dtype, {image.dim(0), kernel.dim(0)}};
  for (std::size_t axis = 2; axis < image.rank(); ++axis) {
    const std::size_t w = window_axis(image, axis);
    COSMIC_REQUIRE(ShapeError, op.window.stride[w] >= 1,
                   "conv with stride " << op.window.stride[w] << " on axis " << axis
                                       << " (the kernel must move)");
    const std::int64_t room = image.dim(axis) + 2 * op.window.pad[w] - kernel.dim(axis);
    COSMIC_REQUIRE(ShapeError, room >= 0,
                   "conv kernel " << kernel << " is larger than the image " << image
                                  << " with padding " << op.window.pad[w] << " on axis " << axis
                                  << "; use a larger image or fewer levels");
    result.shape.push_back(room / op.window.stride[w] + 1);
  }
  require_bias_and_addend(name, in, kernel.dim(0), result);
  return result;
}

Adjoints Conv::gradient(const Conv& op, Builder& g, const GradientArgs& args) {
  if (op.slope != 1) {
    return no_gradient("activations become part of convolutions only where nobody differentiates");
  }
  // The gradient of the image comes last: the layer before goes on from it while it is in the
  // cache.
  const ValueId kernel =
      g.add(ConvKernelGradient{op.window, spatial(g.type(args.in[1]))}, {args.in[0], args.dy});
  Adjoints adjoints{{std::nullopt, kernel}, {}};
  add_bias_and_addend(adjoints, g, args);
  adjoints.of[0] =
      g.add(ConvTranspose{op.window, spatial(g.type(args.in[0]))}, {args.dy, args.in[1]});
  return adjoints;
}

Cost Conv::cost(const Conv&, Types in, const TensorType& out) {
  return {2.0 * macs(in[1], out), traffic(in, out)};
}

TensorType ConvTranspose::infer(const ConvTranspose& op, Types in) {
  const TensorType& y = in[0];
  const TensorType& kernel = in[1];
  require_image_and_kernel(name, y, kernel);
  COSMIC_REQUIRE(ShapeError, y.dim(1) == kernel.dim(0),
                 "conv_transpose channel mismatch: image "
                     << y << ", kernel " << kernel
                     << " (axis 1 of the image and axis 0 of the kernel must agree)");
  COSMIC_REQUIRE(ShapeError, op.image.size() + 2 == y.rank(),
                 "conv_transpose of " << y << " to an image of " << to_string(op.image)
                                      << " (the number of spatial axes must agree)");
  TensorType result{y.dtype, {y.dim(0), kernel.dim(1)}};
  result.shape.insert(result.shape.end(), op.image.begin(), op.image.end());
  const TensorType image{y.dtype, result.shape};
  const TensorType forward = Conv::infer({op.window}, std::vector<TensorType>{image, kernel});
  COSMIC_REQUIRE(ShapeError, forward.shape == y.shape,
                 "conv_transpose of " << y << " to " << image
                                      << " (a convolution of that image gives " << forward << ")");
  require_bias_and_addend(name, in, kernel.dim(1), result);
  return result;
}

Adjoints ConvTranspose::gradient(const ConvTranspose& op, Builder& g, const GradientArgs& args) {
  const ValueId kernel =
      g.add(ConvKernelGradient{op.window, spatial(g.type(args.in[1]))}, {args.dy, args.in[0]});
  Adjoints adjoints{{std::nullopt, kernel}, {}};
  add_bias_and_addend(adjoints, g, args);
  adjoints.of[0] = g.add(Conv{op.window}, {args.dy, args.in[1]});
  return adjoints;
}

Cost ConvTranspose::cost(const ConvTranspose&, Types in, const TensorType& out) {
  return {2.0 * macs(in[1], in[0]), traffic(in, out)};
}

TensorType ConvKernelGradient::infer(const ConvKernelGradient& op, Types in) {
  const TensorType& image = in[0];
  const TensorType& dy = in[1];
  require_image_and_kernel(name, image, dy);
  TensorType result{image.dtype, {dy.dim(1), image.dim(1)}};
  result.shape.insert(result.shape.end(), op.kernel.begin(), op.kernel.end());
  const TensorType forward = Conv::infer({op.window}, std::vector<TensorType>{image, result});
  COSMIC_REQUIRE(ShapeError, forward == dy,
                 "conv_kernel_gradient of image " << image << " and dy " << dy
                                                  << " (a convolution with a kernel " << result
                                                  << " gives " << forward << ")");
  return result;
}

Cost ConvKernelGradient::cost(const ConvKernelGradient&, Types in, const TensorType& out) {
  return {2.0 * macs(out, in[1]), traffic(in, out)};
}

TensorType ScaleFilters::infer(const ScaleFilters& op, Types in) {
  COSMIC_REQUIRE(ShapeError, op.filter_axis == 0 || op.filter_axis == 1,
                 "scale_filters axis is " << op.filter_axis
                                          << " (kernels have filters on axis 0 "
                                             "or 1)");
  const std::int64_t filters = in[0].dim(static_cast<std::size_t>(op.filter_axis));
  COSMIC_REQUIRE(ShapeError, (in[1].shape == Shape{2, 1, filters}),
                 "scale_filters of kernel " << in[0] << " with coefficients " << in[1]
                                            << " (they must be [2x1x" << filters << "])");
  return in[0];
}

}  // namespace cosmic::graph
