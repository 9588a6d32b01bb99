#include "graph/ops/resample.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

void require_image(std::string_view op, const TensorType& type, const Factors& factors) {
  COSMIC_REQUIRE(ShapeError, type.rank() == 4 || type.rank() == 5,
                 op << " of " << type << " (an image has rank 4 or 5: batch, channel, space)");
  for (const std::int64_t factor : factors) {
    COSMIC_REQUIRE(ShapeError, factor >= 1, op << " by " << factor << " (it must be at least 1)");
  }
}

std::int64_t& spatial(TensorType& type, std::size_t axis) {  // axis: 0 depth, 1 row, 2 column
  return type.shape[type.rank() - 3 + axis];
}

// A two-dimensional image has no depth axis to resample.
std::size_t first_axis(const TensorType& type) {
  return type.rank() == 5 ? 0 : 1;
}

}  // namespace

TensorType MaxPool::infer(const MaxPool& op, Types in) {
  require_image(name, in[0], op.window);
  TensorType result = in[0];
  for (std::size_t axis = first_axis(result); axis < 3; ++axis) {
    spatial(result, axis) /= op.window[axis];
    COSMIC_REQUIRE(ShapeError, spatial(result, axis) > 0,
                   "max_pool of " << in[0] << " by " << op.window[axis]
                                  << " (nothing is left); use a larger image or fewer levels");
  }
  return result;
}

Adjoints MaxPool::gradient(const MaxPool& op, Builder& g, const GradientArgs& args) {
  return {{g.add(MaxPoolGradient{op.window}, {args.in[0], args.dy})}, {}};
}

TensorType MaxPoolGradient::infer(const MaxPoolGradient& op, Types in) {
  const TensorType pooled = MaxPool::infer({op.window}, in.first(1));
  COSMIC_REQUIRE(
      ShapeError, in[1] == pooled,
      "max_pool_gradient of " << in[0] << " with dy " << in[1] << " (it must be " << pooled << ")");
  return in[0];
}

std::string to_string(Interpolation interpolation) {
  return interpolation == Interpolation::nearest ? "nearest" : "bilinear";
}

TensorType Upsample::infer(const Upsample& op, Types in) {
  require_image(name, in[0], op.factor);
  COSMIC_REQUIRE(
      ShapeError, op.interpolation == Interpolation::nearest || op.factor == (Factors{1, 2, 2}),
      "bilinear upsample by " << op.factor[0] << "x" << op.factor[1] << "x" << op.factor[2]
                              << " (it doubles rows and columns); use nearest for others");
  TensorType result = in[0];
  for (std::size_t axis = first_axis(result); axis < 3; ++axis) {
    spatial(result, axis) *= op.factor[axis];
  }
  return result;
}

Adjoints Upsample::gradient(const Upsample& op, Builder& g, const GradientArgs& args) {
  return {{g.add(UpsampleGradient{op.interpolation, op.factor}, {args.dy})}, {}};
}

TensorType UpsampleGradient::infer(const UpsampleGradient& op, Types in) {
  require_image(name, in[0], op.factor);
  TensorType result = in[0];
  for (std::size_t axis = first_axis(result); axis < 3; ++axis) {
    COSMIC_REQUIRE(ShapeError, spatial(result, axis) % op.factor[axis] == 0,
                   "upsample_gradient of " << in[0] << " by " << op.factor[axis]
                                           << " (the extents must be multiples of it)");
    spatial(result, axis) /= op.factor[axis];
  }
  return result;
}

}  // namespace cosmic::graph
