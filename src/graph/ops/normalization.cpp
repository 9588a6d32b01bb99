#include "graph/ops/normalization.hpp"

#include "core/error.hpp"
#include "graph/builder.hpp"

namespace cosmic::graph {
namespace {

void require_groups(std::string_view op, const TensorType& x, std::int64_t groups) {
  COSMIC_REQUIRE(
      ShapeError, groups >= 1 && x.rank() >= 1 && x.dim(0) % groups == 0,
      op << " of " << x << " in " << groups << " groups (the batch must split into equal groups)");
}

TensorType per_channel(std::int64_t groups, std::int64_t channels) {
  return {DType::f32, {2, groups, channels}};
}

/// Coefficients [2, G, C] must match the channels of x, and G must divide its batch.
void require_coefficients(std::string_view op, const TensorType& x,
                          const TensorType& coefficients) {
  COSMIC_REQUIRE(ShapeError,
                 coefficients.rank() == 3 && coefficients.dim(0) == 2 &&
                     coefficients.dim(2) == feature_map(x, "a normalised tensor").channels,
                 op << " of " << x << " with coefficients " << coefficients
                    << " (they must be [2 x groups x channels])");
  require_groups(op, x, coefficients.dim(1));
}

}  // namespace

TensorType Statistics::infer(const Statistics& op, Types in) {
  const FeatureMap x = feature_map(in[0], "the operand of statistics");
  require_groups(name, in[0], op.groups);
  COSMIC_REQUIRE(ShapeError, op.pooled_channels >= 1 && x.channels % op.pooled_channels == 0,
                 "statistics of " << in[0] << " pooled over " << op.pooled_channels << " channels ("
                                  << x.channels << " channels do not split so)");
  return per_channel(op.groups, x.channels);
}

Adjoints Statistics::gradient(const Statistics& op, Builder& g, const GradientArgs& args) {
  return {
      {g.add(StatisticsGradient{op.groups, op.pooled_channels}, {args.in[0], args.out, args.dy})},
      {}};
}

TensorType StatisticsGradient::infer(const StatisticsGradient& op, Types in) {
  const TensorType expected = Statistics::infer({op.groups, op.pooled_channels}, in.first(1));
  COSMIC_REQUIRE(ShapeError, in[1] == expected && in[2] == expected,
                 "statistics_gradient of " << in[0] << " with statistics " << in[1] << " and "
                                           << in[2] << " (both must be " << expected << ")");
  return in[0];
}

std::string to_string(Over over) {
  switch (over) {
    case Over::process:
      return "process";
    case Over::all_processes:
      return "all_processes";
  }
  throw InternalError("unknown extent of statistics");
}

std::string to_string(SecondMoment second) {
  switch (second) {
    case SecondMoment::variance:
      return "variance";
    case SecondMoment::mean_square:
      return "mean_square";
  }
  throw InternalError("unknown second moment");
}

TensorType RestateStatistics::infer(const RestateStatistics&, Types in) {
  COSMIC_REQUIRE(
      ShapeError, in[0].rank() == 3 && in[0].dim(0) == 2 && in[0].dtype == DType::f32,
      "restate_statistics of " << in[0] << " (statistics must be [2 x groups x channels])");
  return in[0];
}

TensorType NormCoefficients::infer(const NormCoefficients&, Types in) {
  const TensorType& statistics = in[0];
  COSMIC_REQUIRE(ShapeError, statistics.rank() == 3 && statistics.dim(0) == 2,
                 "norm_coefficients of statistics " << statistics
                                                    << " (they must be [2 x groups x channels])");
  const Shape channels{statistics.dim(2)};
  COSMIC_REQUIRE(ShapeError, in[1].shape == channels && in[2].shape == channels,
                 "norm_coefficients of " << statistics << " with weight " << in[1] << " and bias "
                                         << in[2] << " (one number per channel each)");
  return statistics;
}

Adjoints NormCoefficients::gradient(const NormCoefficients& op, Builder& g,
                                    const GradientArgs& args) {
  const auto part = [&](NormCoefficientsGradient::Of of) {
    return g.add(NormCoefficientsGradient{of, op.epsilon}, {args.in[0], args.in[1], args.dy});
  };
  using Of = NormCoefficientsGradient::Of;
  return {{part(Of::statistics), part(Of::weight), part(Of::bias)}, {}};
}

TensorType NormCoefficientsGradient::infer(const NormCoefficientsGradient& op, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0].rank() == 3,
                 "norm_coefficients_gradient of statistics "
                     << in[0] << " (they must be [2 x groups x channels])");
  const TensorType channels{DType::f32, {in[0].dim(2)}};
  NormCoefficients::infer({op.epsilon}, std::vector<TensorType>{in[0], in[1], channels});
  COSMIC_REQUIRE(ShapeError, in[2] == in[0],
                 "norm_coefficients_gradient of statistics " << in[0] << " with " << in[2]
                                                             << " (both must be the same type)");
  return op.of == Of::statistics ? in[0] : channels;
}

std::string to_string(NormCoefficientsGradient::Of of) {
  switch (of) {
    case NormCoefficientsGradient::Of::statistics:
      return "statistics";
    case NormCoefficientsGradient::Of::weight:
      return "weight";
    case NormCoefficientsGradient::Of::bias:
      return "bias";
  }
  throw InternalError("unknown operand of norm_coefficients");
}

TensorType ChannelAffine::infer(const ChannelAffine&, Types in) {
  require_coefficients(name, in[0], in[1]);
  return in[0];
}

Adjoints ChannelAffine::gradient(const ChannelAffine&, Builder& g, const GradientArgs& args) {
  const std::int64_t groups = g.type(args.in[1]).dim(1);
  return {{g.add(ChannelScale{}, {args.dy, args.in[1]}),
           g.add(ChannelProducts{groups}, {args.in[0], args.dy})},
          {}};
}

TensorType ChannelScale::infer(const ChannelScale&, Types in) {
  require_coefficients(name, in[0], in[1]);
  return in[0];
}

TensorType ChannelProducts::infer(const ChannelProducts& op, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0] == in[1],
                 "channel_products of " << in[0] << " and " << in[1] << " (types must agree)");
  require_groups(name, in[0], op.groups);
  return per_channel(op.groups, feature_map(in[0], "the operand of channel_products").channels);
}

TensorType RunningUpdate::infer(const RunningUpdate&, Types in) {
  COSMIC_REQUIRE(
      ShapeError, in[1].rank() == 3 && in[0].shape == Shape{in[1].dim(2)},
      "running_update of " << in[0] << " with statistics " << in[1] << " (one number per channel)");
  return in[0];
}

std::string to_string(RunningUpdate::Of of) {
  return of == RunningUpdate::Of::mean ? "mean" : "variance";
}

TensorType Increment::infer(const Increment&, Types in) {
  COSMIC_REQUIRE(ShapeError, in[0].dtype == DType::i64,
                 "increment of " << in[0] << " (counters are i64)");
  return in[0];
}

}  // namespace cosmic::graph
