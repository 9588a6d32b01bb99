// The list of all ops. Adding one here makes every target, the text dump and the conformance tests
// ask for it by name until it is there.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "graph/ops/arrangement.hpp"
#include "graph/ops/boundary.hpp"
#include "graph/ops/conv.hpp"
#include "graph/ops/exchange.hpp"
#include "graph/ops/linear.hpp"
#include "graph/ops/loss.hpp"
#include "graph/ops/loss_scale.hpp"
#include "graph/ops/normalization.hpp"
#include "graph/ops/optimizer.hpp"
#include "graph/ops/pointwise.hpp"
#include "graph/ops/resample.hpp"

namespace cosmic::graph {

template <OpDefinition... Ops>
using OpList = std::variant<Ops...>;

/// For who goes through all of them at compile time (std::variant_alternative_t).
using OneOfAllOps =
    OpList<Input, State, Fill,                                                 //
           Add, Scale, LeakyRelu, LeakyReluGradient, ChannelBias, ChannelSum,  //
           Conv, ConvTranspose, ConvKernelGradient, ScaleFilters,              //
           Statistics, StatisticsGradient, RestateStatistics, NormCoefficients,
           NormCoefficientsGradient, ChannelAffine, ChannelScale, ChannelProducts, RunningUpdate,
           Increment,  //
           Concat, Slice, Embed, Reshape, PlanesToChannels, ChannelsToPlanes, DepthToPlanes,
           PlanesToDepth, Copy, Reorder,                          //
           MaxPool, MaxPoolGradient, Upsample, UpsampleGradient,  //
           MatMul, Softmax, SoftmaxGradient,                      //
           EvenClassWeights, FixedClassWeights, SegmentationSums, SegmentationSumsGradient,
           WeightedMean, WeightedMeanGradient, SegmentationScores, NegativeLogLikelihood,
           NegativeLogLikelihoodGradient,                 //
           Moment, AdamStep, RmspropStep, SgdStep,        //
           AllFinite, Unscale, NextLossScale, GoodSteps,  //
           AllReduce>;

template <class Op>
constexpr bool is_one_of_all_ops = []<class... Ops>(std::type_identity<std::variant<Ops...>>) {
  return (std::is_same_v<Op, Ops> || ...);
}(std::type_identity<OneOfAllOps>{});

/// Any of them. A class of its own, because a variant of fifty types is expensive to compile: its
/// copies, moves and destruction are compiled once, in all_ops.cpp, and not wherever a Node is.
class AnyOp : public OneOfAllOps {
 public:
  AnyOp() noexcept;
  AnyOp(const AnyOp& other);
  AnyOp(AnyOp&& other) noexcept;
  AnyOp& operator=(const AnyOp& other);
  AnyOp& operator=(AnyOp&& other) noexcept;
  ~AnyOp();

  template <class Op>
  requires is_one_of_all_ops<Op> AnyOp(Op op) : OneOfAllOps(std::move(op)) {}

  friend bool operator==(const AnyOp& a, const AnyOp& b);
};

std::string_view name_of(const AnyOp& op);
Locality locality_of(const AnyOp& op);

// What it says about its nature; see op_nature.hpp.

/// Of its result, given those of its operands.
Role role_of(const AnyOp& op, Roles operands);
/// Does operand `i`, of this role, enter the arithmetic as a weight?
bool is_weight_operand(const AnyOp& op, std::size_t i, Role role);
Overwrite overwrite_of(const AnyOp& op);
Exact exact_of(const AnyOp& op);
Reduction reduction_of(const AnyOp& op);
Division division_of(const AnyOp& op);
ImageUse image_use_of(const AnyOp& op, Types operands);

/// "stride=1x2x2 pad=0x1x1"; empty for an op without attributes.
std::string describe_fields(const AnyOp& op);

}  // namespace cosmic::graph
