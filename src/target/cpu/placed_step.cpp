#include "target/cpu/placed_step.hpp"

#include "core/error.hpp"
#include "target/cpu/implementations.hpp"
#include "target/cpu/small_images/bundle_groups.hpp"

namespace cosmic::target::cpu {
namespace {

using compile::Computed;
using compile::RoundedWhen;
using graph::ValueId;

std::vector<ValueId> rounded_when_complete(const compile::Step& step) {
  std::vector<ValueId> values;
  const auto add = [&](const Computed& computed) {
    if (computed.rounded == RoundedWhen::complete) {
      values.push_back(computed.value);
    }
  };
  for (const compile::Rider& rider : step.riders) {
    add(rider.computed);
  }
  add(step.leader);
  return values;
}

/// Marks the steps of each group that is worth sharing and that splits evenly among the threads.
/// Otherwise its steps run one after the other, all threads on each.
void mark_groups(const graph::Graph& graph, const compile::StepList& list, const Team& team,
                 std::vector<PlacedStep>& steps) {
  for (const compile::StepGroup& group : list.groups) {
    std::vector<PlacedStep*> members;
    double work = 0;
    for (std::size_t i = group.first; i <= group.last; ++i) {
      if (!steps[i].fixed()) {
        members.push_back(&steps[i]);
        const graph::Cost cost = graph::cost_of(graph, steps[i].of_plan->leader.value);
        work += cost.flops + cost.bytes;
      }
    }
    if (members.size() < 2 || group.parts % team.size() != 0 || team.for_work(work).size() == 1) {
      continue;
    }
    for (PlacedStep* member : members) {
      member->bundles = group.parts;
      member->bundled = dynamic_cast<Bundled*>(member->step.get());
      COSMIC_REQUIRE(InternalError,
                     member->bundled != nullptr && member->rounded_when_complete.empty(),
                     "the step '" << member->implementation << "' of %"
                                  << member->of_plan->leader.value.index()
                                  << " is to run side by side with others (it works on all images "
                                     "at once, or rounds its result when that is complete)");
    }
    members.front()->begins_group = true;
    members.front()->inputs = inputs_of(graph, list, group);
  }
}

}  // namespace

std::vector<PlacedStep> place_steps(const Memory& memory, const compile::StepList& list,
                                    const Team& team, const std::function<void(double)>& progress) {
  const graph::Graph& graph = memory.graph();
  std::vector<PlacedStep> steps;
  for (const compile::Step& step : list.steps) {
    const Implementation& way = choose(graph, step);
    PlacedStep placed;
    placed.of_plan = &step;
    placed.step = way.make(memory, step, team);
    placed.implementation = way.name;
    placed.rounded_when_complete = rounded_when_complete(step);
    steps.push_back(std::move(placed));
    if (progress) {
      progress(static_cast<double>(steps.size()) / static_cast<double>(list.steps.size()));
    }
  }
  mark_groups(graph, list, team, steps);
  return steps;
}

}  // namespace cosmic::target::cpu
