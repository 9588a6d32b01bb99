// What only a training step has, as standard ONNX nodes: statistics of batches, the loss, gradients
// and updates. Nothing here is an operator of its own, so any runtime can execute it.
#pragma once

#include <string>

#include "checkpoint/onnx/onnx_emitter.hpp"

namespace cosmic::checkpoint::onnx {

// One overload for each op that has such a form; each returns the name of the op's result.
//
// SegmentationSums and what reads it have two columns here instead of nine, the weighted loss and
// the weight: the others are counted for scores, which are no part of a step.

std::string training_nodes(Emitter& e, const graph::Fill& op);
std::string training_nodes(Emitter& e, const graph::Scale& op);
std::string training_nodes(Emitter& e, const graph::LeakyReluGradient& op);
std::string training_nodes(Emitter& e, const graph::ChannelSum& op);
std::string training_nodes(Emitter& e, const graph::ConvKernelGradient& op);

std::string training_nodes(Emitter& e, const graph::Statistics& op);
std::string training_nodes(Emitter& e, const graph::StatisticsGradient& op);
std::string training_nodes(Emitter& e, const graph::NormCoefficients& op);
std::string training_nodes(Emitter& e, const graph::NormCoefficientsGradient& op);
std::string training_nodes(Emitter& e, const graph::ChannelAffine& op);
std::string training_nodes(Emitter& e, const graph::ChannelScale& op);
std::string training_nodes(Emitter& e, const graph::ChannelProducts& op);
std::string training_nodes(Emitter& e, const graph::RunningUpdate& op);
std::string training_nodes(Emitter& e, const graph::Increment& op);

std::string training_nodes(Emitter& e, const graph::Slice& op);
std::string training_nodes(Emitter& e, const graph::Embed& op);
std::string training_nodes(Emitter& e, const graph::PlanesToDepth& op);
std::string training_nodes(Emitter& e, const graph::MaxPoolGradient& op);
std::string training_nodes(Emitter& e, const graph::UpsampleGradient& op);

std::string training_nodes(Emitter& e, const graph::EvenClassWeights& op);
std::string training_nodes(Emitter& e, const graph::FixedClassWeights& op);
std::string training_nodes(Emitter& e, const graph::SegmentationSums& op);
std::string training_nodes(Emitter& e, const graph::SegmentationSumsGradient& op);
std::string training_nodes(Emitter& e, const graph::WeightedMean& op);
std::string training_nodes(Emitter& e, const graph::WeightedMeanGradient& op);

std::string training_nodes(Emitter& e, const graph::Moment& op);
std::string training_nodes(Emitter& e, const graph::AdamStep& op);
std::string training_nodes(Emitter& e, const graph::RmspropStep& op);
std::string training_nodes(Emitter& e, const graph::SgdStep& op);

template <class Op>
std::string training_nodes(Emitter& e, const Op&) {
  throw e.refusal(Op::name, "this program does not know how to write it");
}

}  // namespace cosmic::checkpoint::onnx
