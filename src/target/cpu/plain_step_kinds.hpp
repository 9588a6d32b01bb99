// One overload per op that works on plain tensors; plain_steps.cpp dispatches to them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>

#include "core/threads.hpp"
#include "graph/graph.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

/// A node and where its operands and its result live.
class PlainNode {
 public:
  PlainNode(const Memory& memory, graph::ValueId id) : memory_(memory), id_(id) {}

  const graph::Node& node() const { return memory_.graph().node(id_); }
  const graph::TensorType& type(std::size_t i) const {
    return memory_.graph().type(node().operands[i]);
  }
  template <class Element = const float>
  Element* in(std::size_t i) const {
    return memory_.at<Element>(node().operands[i]);
  }
  const std::byte* raw(std::size_t i) const { return in<const std::byte>(i); }
  template <class Element = float>
  Element* out() const {
    return memory_.at<Element>(id_);
  }
  std::byte* raw_out() const { return out<std::byte>(); }

 private:
  const Memory& memory_;
  graph::ValueId id_;
};

std::unique_ptr<PreparedStep> plain_step(const graph::Fill& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Add& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Scale& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::LeakyRelu& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::LeakyReluGradient& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ChannelBias& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ChannelSum& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ChannelAffine& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ChannelScale& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ScaleFilters& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::RestateStatistics& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::NormCoefficients& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::NormCoefficientsGradient& op,
                                         const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::RunningUpdate& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Increment& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Concat& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Slice& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Embed& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Reshape& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Copy& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::PlanesToChannels& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::ChannelsToPlanes& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::DepthToPlanes& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::PlanesToDepth& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::MatMul& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Softmax& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::SoftmaxGradient& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::EvenClassWeights& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::FixedClassWeights& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::WeightedMean& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::WeightedMeanGradient& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::SegmentationScores& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::NegativeLogLikelihood& op,
                                         const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::NegativeLogLikelihoodGradient& op,
                                         const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Moment& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::AdamStep& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::RmspropStep& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::SgdStep& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::AllFinite& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::Unscale& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::NextLossScale& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::GoodSteps& op, const PlainNode& n);
std::unique_ptr<PreparedStep> plain_step(const graph::AllReduce& op, const PlainNode& n);

/// A step that is a function of the team.
template <class Function>
class FunctionStep final : public SimpleStep {
 public:
  explicit FunctionStep(Function function) : function_(std::move(function)) {}
  void run(const Team& team, const Scratch&) override { function_(team); }

 private:
  Function function_;
};

template <class Function>
std::unique_ptr<PreparedStep> step(Function function) {
  return std::make_unique<FunctionStep<Function>>(std::move(function));
}

/// A step that computes elements [begin, end) with function(begin, end), in parallel when many.
template <class Function>
std::unique_ptr<PreparedStep> elementwise(std::int64_t count, Function function) {
  return step([=](const Team& all) {
    // An element costs a few operations and several loads.
    const Team team = all.for_work(16 * static_cast<double>(count));
    team.run([&](int thread) {
      const Range range = slice_of(count, thread, team.size());
      function(range.begin, range.end);
    });
  });
}

/// An ElementStep by function(begin, end).
template <class Function>
class ElementFunctionStep final : public ElementStep {
 public:
  ElementFunctionStep(std::int64_t count, Function function)
      : count_(count), function_(std::move(function)) {}
  std::int64_t elements() const override { return count_; }
  void compute(const Range& elements) override { function_(elements.begin, elements.end); }

 private:
  std::int64_t count_;
  Function function_;
};

template <class Function>
std::unique_ptr<PreparedStep> element_step(std::int64_t count, Function function) {
  return std::make_unique<ElementFunctionStep<Function>>(count, std::move(function));
}

/// Product of the extents of axes [begin, end).
inline std::int64_t product(const graph::Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                         std::multiplies<>());
}

}  // namespace cosmic::target::cpu
