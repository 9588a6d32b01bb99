// From a planned program to steps: which kernel computes each stored value.
#pragma once

#include <memory>
#include <vector>

#include "compile/plan.hpp"
#include "target/cpu/step.hpp"
#include "target/target.hpp"

namespace cosmic::target::cpu {

/// Can this target run the node, and if not, why?
Support supports_node(const graph::Graph& graph, graph::ValueId id);

/// Can all readers of this value recompute it row by row?
bool can_recompute(const graph::Graph& graph, graph::ValueId id);

/// May the result be written over `leaf`, which the node reads? Only where a pixel of the result
/// needs no other pixel of it.
bool can_write_over(const graph::Graph& graph, graph::ValueId id, graph::ValueId leaf);

struct PlacedStep {
  std::unique_ptr<Step> step;
  graph::ValueId value;                ///< what it computes
  std::vector<graph::ValueId> riders;  ///< what it computes along with it
  bool fixed = false;                  ///< computed once per change of the state, not in every run
  bool fixed_weights = false;          ///< its weights are
  /// Bundles of images, of a step that runs side by side with its neighbours; 0 if it does not.
  std::int64_t bundles = 0;
  /// Of the steps that run side by side: is it the first?
  bool begins_group = false;
  /// Then: inputs of the program, by their index, that nothing before the group reads. Each thread
  /// copies the images that are its own.
  std::vector<std::size_t> inputs = {};
};

std::vector<PlacedStep> make_steps(const Memory& memory, const Team& team,
                                   const std::function<void(double)>& progress);

}  // namespace cosmic::target::cpu
