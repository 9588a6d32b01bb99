#include "graph/ops/pointwise.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

const TensorType& require_same(std::string_view op, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0] == in[1],
                 op << " of " << in[0] << " and " << in[1] << " (both must have the same type)");
  return in[0];
}

const TensorType& require_float(std::string_view op, const TensorType& type) {
  COSMIC_REQUIRE(ShapeError, type.dtype == DType::f32,
                 op << " of " << type << " (only f32 can be computed with)");
  return type;
}

}  // namespace

TensorType Add::infer(const Add&, Types in) {
  return require_float(name, require_same(name, in));
}

Adjoints Add::gradient(const Add&, Builder&, const GradientArgs& args) {
  return {{args.dy, args.dy}, {}};
}

TensorType Scale::infer(const Scale&, Types in) {
  return require_float(name, in[0]);
}

Adjoints Scale::gradient(const Scale& op, Builder& g, const GradientArgs& args) {
  return {{g.add(Scale{op.factor}, {args.dy})}, {}};
}

TensorType LeakyRelu::infer(const LeakyRelu&, Types in) {
  return require_float(name, in[0]);
}

Adjoints LeakyRelu::gradient(const LeakyRelu& op, Builder& g, const GradientArgs& args) {
  return {{g.add(LeakyReluGradient{op.slope}, {args.in[0], args.dy})}, {}};
}

TensorType LeakyReluGradient::infer(const LeakyReluGradient&, Types in) {
  return require_float(name, require_same(name, in));
}

TensorType ChannelBias::infer(const ChannelBias&, Types in) {
  const FeatureMap x = feature_map(in[0], "the operand of channel_bias");
  COSMIC_REQUIRE(ShapeError, in[1].shape == Shape{x.channels},
                 "channel_bias " << in[1] << " on " << in[0] << " (it needs one number for each of "
                                 << x.channels << " channels)");
  return require_float(name, in[0]);
}

Adjoints ChannelBias::gradient(const ChannelBias&, Builder& g, const GradientArgs& args) {
  return {{args.dy, g.add(ChannelSum{}, {args.dy})}, {}};
}

TensorType ChannelSum::infer(const ChannelSum&, Types in) {
  return {DType::f32, {feature_map(in[0], "the operand of channel_sum").channels}};
}

}  // namespace cosmic::graph
