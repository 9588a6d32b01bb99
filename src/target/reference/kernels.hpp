// One function per op: the op's header comment, written as loops. `out` is the type of the result,
// as inferred by the op itself; operands and result are never the same tensor.
#pragma once

#include <functional>
#include <span>

#include "graph/graph.hpp"
#include "target/reference/tensor.hpp"

namespace cosmic::target::reference {

using Operands = std::span<const Tensor* const>;

// kernels_boundary.cpp
Tensor run(const graph::Fill& op, Operands in, const graph::TensorType& out);

// kernels_pointwise.cpp
Tensor run(const graph::Add& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Scale& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::LeakyRelu& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::LeakyReluGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelBias& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelSum& op, Operands in, const graph::TensorType& out);

// kernels_conv.cpp
Tensor run(const graph::Conv& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ConvTranspose& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ConvKernelGradient& op, Operands in, const graph::TensorType& out);
/// Without what it says about the depth of an image that has none.
graph::Window window_for(const graph::TensorType& image, graph::Window window);
/// Bias (operand 2) and addend (operand 3), where they are given.
void add_bias_and_addend(Operands in, Tensor& y);
/// What a convolution does to its result at last.
void activate(const graph::Conv& op, Tensor& y);
Tensor run(const graph::ScaleFilters& op, Operands in, const graph::TensorType& out);

// kernels_normalization.cpp
Tensor run(const graph::Statistics& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::StatisticsGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::RestateStatistics& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::NormCoefficients& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::NormCoefficientsGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelAffine& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelScale& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelProducts& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::RunningUpdate& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Increment& op, Operands in, const graph::TensorType& out);

// kernels_arrangement.cpp
Tensor run(const graph::Concat& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Slice& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Embed& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Reshape& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::PlanesToChannels& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::ChannelsToPlanes& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::DepthToPlanes& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::PlanesToDepth& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Copy& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Reorder& op, Operands in, const graph::TensorType& out);

// kernels_resample.cpp
Tensor run(const graph::MaxPool& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::MaxPoolGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Upsample& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::UpsampleGradient& op, Operands in, const graph::TensorType& out);

// kernels_linear.cpp
Tensor run(const graph::MatMul& op, Operands in, const graph::TensorType& out);
/// An element of the matrix, or of its transpose.
double matrix_element(const Tensor& matrix, graph::Transposed transposed, std::int64_t row,
                      std::int64_t column);
Tensor run(const graph::Softmax& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::SoftmaxGradient& op, Operands in, const graph::TensorType& out);

// kernels_loss.cpp
Tensor run(const graph::EvenClassWeights& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::FixedClassWeights& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::SegmentationSums& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::SegmentationSumsGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::WeightedMean& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::WeightedMeanGradient& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::SegmentationScores& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::NegativeLogLikelihood& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::NegativeLogLikelihoodGradient& op, Operands in,
           const graph::TensorType& out);

// kernels_optimizer.cpp
Tensor run(const graph::Moment& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::AdamStep& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::RmspropStep& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::SgdStep& op, Operands in, const graph::TensorType& out);

// kernels_loss_scale.cpp
Tensor run(const graph::AllFinite& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::Unscale& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::NextLossScale& op, Operands in, const graph::TensorType& out);
Tensor run(const graph::GoodSteps& op, Operands in, const graph::TensorType& out);

// kernels_exchange.cpp
Tensor run(const graph::AllReduce& op, Operands in, const graph::TensorType& out);

/// What a product makes of a factor, see graph::factor_rounding_of.
Tensor rounded_factor(const Tensor& factor, const graph::FactorRounding& rounding);

// kernels_half_sums.cpp: products whose running sums are rounded, see graph::partials_of.
using RoundSum = std::function<double(double)>;
Tensor run(const graph::Conv& op, Operands in, const graph::TensorType& out, const RoundSum& round);
Tensor run(const graph::ConvTranspose& op, Operands in, const graph::TensorType& out,
           const RoundSum& round);
Tensor run(const graph::ConvKernelGradient& op, Operands in, const graph::TensorType& out,
           const RoundSum& round);
Tensor run(const graph::MatMul& op, Operands in, const graph::TensorType& out,
           const RoundSum& round);

}  // namespace cosmic::target::reference
