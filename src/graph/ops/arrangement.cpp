#include "graph/ops/arrangement.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
std::string to_string(Layout layout) {
  switch (layout) {
    case Layout::plain:
      return "plain";
    case Layout::blocked:
      return "blocked";
    case Layout::interleaved:
      return "interleaved";
  }
  throw InternalError("unknown layout");
}

TensorType Concat::infer(const Concat& op, Types in) {
  require_axis(name, in[0], op.axis);
  const auto axis = static_cast<std::size_t>(op.axis);
  TensorType result = in[0];
  for (std::size_t i = 1; i < in.size(); ++i) {
    TensorType same = in[i];
    COSMIC_REQUIRE(ShapeError, same.rank() == result.rank(),
                   "concat of " << in[0] << " and " << in[i] << " (ranks must agree)");
    same.shape[axis] = in[0].dim(axis);
    COSMIC_REQUIRE(ShapeError, same == in[0],
                   "concat of " << in[0] << " and " << in[i] << " along axis " << op.axis
                                << " (all other axes must agree)");
    result.shape[axis] += in[i].dim(axis);
  }
  return result;
}

Adjoints Concat::gradient(const Concat& op, Builder& g, const GradientArgs& args) {
  Adjoints adjoints;
  std::int64_t begin = 0;
  for (const ValueId operand : args.in) {
    const std::int64_t end = begin + g.type(operand).dim(static_cast<std::size_t>(op.axis));
    adjoints.of.push_back(g.add(Slice{op.axis, begin, end}, {args.dy}));
    begin = end;
  }
  return adjoints;
}

TensorType Slice::infer(const Slice& op, Types in) {
  require_axis(name, in[0], op.axis);
  const auto axis = static_cast<std::size_t>(op.axis);
  COSMIC_REQUIRE(ShapeError, op.begin >= 0 && op.begin < op.end && op.end <= in[0].dim(axis),
                 "slice [" << op.begin << ", " << op.end << ") of axis " << op.axis << " of "
                           << in[0] << " (it must be a non-empty part of the axis)");
  TensorType result = in[0];
  result.shape[axis] = op.end - op.begin;
  return result;
}

Adjoints Slice::gradient(const Slice& op, Builder& g, const GradientArgs& args) {
  const std::int64_t extent = g.type(args.in[0]).dim(static_cast<std::size_t>(op.axis));
  return {{g.add(Embed{op.axis, op.begin, extent}, {args.dy})}, {}};
}

TensorType Embed::infer(const Embed& op, Types in) {
  require_axis(name, in[0], op.axis);
  const auto axis = static_cast<std::size_t>(op.axis);
  COSMIC_REQUIRE(ShapeError, op.begin >= 0 && op.begin + in[0].dim(axis) <= op.extent,
                 "embed of " << in[0] << " at " << op.begin << " in an axis of " << op.extent
                             << " (it does not fit)");
  TensorType result = in[0];
  result.shape[axis] = op.extent;
  return result;
}

Adjoints Embed::gradient(const Embed& op, Builder& g, const GradientArgs& args) {
  const std::int64_t extent = g.type(args.in[0]).dim(static_cast<std::size_t>(op.axis));
  return {{g.add(Slice{op.axis, op.begin, op.begin + extent}, {args.dy})}, {}};
}

TensorType Reshape::infer(const Reshape& op, Types in) {
  const TensorType result{in[0].dtype, op.shape};
  COSMIC_REQUIRE(ShapeError, result.elements() == in[0].elements(),
                 "reshape of " << in[0] << " to " << to_string(op.shape) << " (" << in[0].elements()
                               << " elements cannot become " << result.elements() << ")");
  return result;
}

Adjoints Reshape::gradient(const Reshape&, Builder& g, const GradientArgs& args) {
  return {{g.add(Reshape{g.type(args.in[0]).shape}, {args.dy})}, {}};
}

TensorType PlanesToChannels::infer(const PlanesToChannels& op, Types in) {
  COSMIC_REQUIRE(ShapeError, op.planes >= 1 && in[0].rank() >= 2 && in[0].dim(0) % op.planes == 0,
                 "planes_to_channels of " << in[0] << " (a plane-major batch of " << op.planes
                                          << " planes is a multiple of " << op.planes << ")");
  TensorType result = in[0];
  result.shape[0] /= op.planes;
  result.shape[1] *= op.planes;
  return result;
}

Adjoints PlanesToChannels::gradient(const PlanesToChannels& op, Builder& g,
                                    const GradientArgs& args) {
  return {{g.add(ChannelsToPlanes{op.planes}, {args.dy})}, {}};
}

TensorType ChannelsToPlanes::infer(const ChannelsToPlanes& op, Types in) {
  COSMIC_REQUIRE(ShapeError, op.planes >= 1 && in[0].rank() >= 2 && in[0].dim(1) % op.planes == 0,
                 "channels_to_planes of " << in[0] << " (the channels of " << op.planes
                                          << " planes are a multiple of " << op.planes << ")");
  TensorType result = in[0];
  result.shape[0] *= op.planes;
  result.shape[1] /= op.planes;
  return result;
}

Adjoints ChannelsToPlanes::gradient(const ChannelsToPlanes& op, Builder& g,
                                    const GradientArgs& args) {
  return {{g.add(PlanesToChannels{op.planes}, {args.dy})}, {}};
}

TensorType DepthToPlanes::infer(const DepthToPlanes&, Types in) {
  COSMIC_REQUIRE(
      ShapeError, in[0].rank() == 5,
      "depth_to_planes of " << in[0] << " (it needs batch, channel, depth, row, column)");
  const Shape& s = in[0].shape;
  return {in[0].dtype, {s[2] * s[0], s[1], s[3], s[4]}};
}

Adjoints DepthToPlanes::gradient(const DepthToPlanes&, Builder& g, const GradientArgs& args) {
  return {{g.add(PlanesToDepth{g.type(args.in[0]).dim(2)}, {args.dy})}, {}};
}

TensorType PlanesToDepth::infer(const PlanesToDepth& op, Types in) {
  COSMIC_REQUIRE(ShapeError, op.planes >= 1 && in[0].rank() == 4 && in[0].dim(0) % op.planes == 0,
                 "planes_to_depth of " << in[0] << " (it needs a plane-major batch of " << op.planes
                                       << " planes)");
  const Shape& s = in[0].shape;
  return {in[0].dtype, {s[0] / op.planes, s[1], op.planes, s[2], s[3]}};
}

Adjoints PlanesToDepth::gradient(const PlanesToDepth&, Builder& g, const GradientArgs& args) {
  return {{g.add(DepthToPlanes{}, {args.dy})}, {}};
}

}  // namespace cosmic::graph
