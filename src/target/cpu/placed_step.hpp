// The steps of a plan with their memory, kernels and threads: what an executable runs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "compile/plan.hpp"
#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

struct PlacedStep {
  const compile::Step* of_plan = nullptr;
  std::unique_ptr<PreparedStep> step;
  std::string_view implementation;
  /// Of what it computes: what is rounded when all of it is there.
  std::vector<graph::ValueId> rounded_when_complete;
  /// Where it runs side by side with its neighbours: the same step, and the bundles of its images.
  Bundled* bundled = nullptr;
  std::int64_t bundles = 0;
  /// Of the steps that run side by side: is it the first?
  bool begins_group = false;
  /// Then: inputs of the program, by their index, that nothing before the group reads. Each thread
  /// copies the images that are its own.
  std::vector<std::size_t> inputs;

  bool fixed() const { return of_plan->fixed; }
  bool fixed_weights() const { return of_plan->fixed_operands != 0; }
};

/// `steps` must outlive what is made of it.
std::vector<PlacedStep> place_steps(const Memory& memory, const compile::StepList& steps,
                                    const Team& team, const std::function<void(double)>& progress);

}  // namespace cosmic::target::cpu
