// From a network as it was written to a plan for a target: the order of the passes, in one place.
#pragma once

#include "compile/optimizer.hpp"
#include "compile/passes/passes.hpp"
#include "compile/plan.hpp"
#include "compile/target_info.hpp"

namespace cosmic::compile {

/// What a training program does with its gradients.
struct GradientUse {
  enum class Kind { update, accumulate };

  Kind kind = Kind::update;
  double factor = 1;  ///< of each batch's gradient, when accumulating or exchanging
  Keep keep = Keep::nothing;
  /// Are there other processes whose gradients count? Those that are accumulated are exchanged by
  /// the program that updates.
  Sums sums = Sums::own;
  std::int64_t processes = 1;  ///< those whose batch statistics are taken together
  /// That gradients travel in.
  NumberFormat exchange = NumberFormat::f32;
};

std::vector<Pass> inference_passes(const TargetInfo& target, const Precision& precision = {});
std::vector<Pass> training_passes(const TargetInfo& target, const UpdateRule& rule,
                                  const GradientUse& use, const Precision& precision = {});
/// For a program that is already a step, such as accumulated_update.
std::vector<Pass> finishing_passes(const TargetInfo& target, const Precision& precision = {});

/// Runs the passes, then plans the memory.
Plan make_plan(graph::Graph graph, const std::vector<Pass>& passes, const TargetInfo& target,
               const PipelineOptions& options);

}  // namespace cosmic::compile
