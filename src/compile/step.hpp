// What a target runs: a program cut into steps. A step is led by one node; others ride along and
// take rows or tiles while the leader has them at hand, which saves reading them from memory again.
// The compiler decides all of this, asking the target what it can do (target_info.hpp); a target
// only turns each step into a kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compile/expression.hpp"
#include "core/support.hpp"
#include "graph/graph.hpp"

namespace cosmic::compile {

struct TargetInfo;

/// What a rider does with what its leader has at hand.
enum class Ride {
  reduces_result,  ///< sums over the pixels of the result, as they are written
  maps_result,     ///< writes an image of its own from each pixel of the result
  updates_state,   ///< takes the result, a gradient, as the next value of a state needs it
  shares_operand,  ///< reads the rows of the leader's first operand with the leader
};

std::string_view to_string(Ride ride);

/// When a value that is kept in a narrow format is rounded.
enum class RoundedWhen {
  never,       ///< it is float32, or no float at all
  as_written,  ///< on its way from registers to memory
  complete,    ///< when the step has computed all of it
};

std::string_view to_string(RoundedWhen when);

/// One value that a step computes.
struct Computed {
  graph::ValueId value;
  /// Its op over stored values. Operand i of the value is operand i of the root.
  Expression expression;
  RoundedWhen rounded = RoundedWhen::never;

  bool operator==(const Computed&) const = default;
};

struct Rider {
  Computed computed;
  Ride ride = Ride::reduces_result;

  bool operator==(const Rider&) const = default;
};

struct Step {
  Computed leader;
  std::vector<Rider> riders;  ///< in program order, right after the leader
  /// Computed once per change of the state, before the first run: it depends on nothing else, and
  /// everyone who reads it does so then. Its place in memory is free for others while running.
  bool fixed = false;
  /// Operands of the leader that depend on unchanging state alone and that the target brings into a
  /// form of its own (packed weights) once per change of the state. Bit i stands for operand i.
  std::uint32_t fixed_operands = 0;

  bool operator==(const Step&) const = default;
};

/// Neighbouring steps that run side by side, each worker on its own part of the images; all other
/// steps run one after the other. What a group reads and writes lives as long as the whole group.
struct StepGroup {
  std::size_t first = 0;   ///< index of a step
  std::size_t last = 0;    ///< included
  std::int64_t parts = 0;  ///< pieces that the images can be cut into

  bool operator==(const StepGroup&) const = default;
};

struct StepList {
  std::vector<Step> steps;  ///< in execution order
  std::vector<StepGroup> groups;

  bool operator==(const StepList&) const = default;
};

/// Does the node compute something that ends up in memory? Inputs and states are there already, and
/// what is not stored is computed where it is read.
bool is_computed_and_stored(const graph::Node& node);

/// The steps of a program that is otherwise finished: every value has its layout and its format,
/// and is stored or not.
StepList make_steps(const graph::Graph& graph, const TargetInfo& target);

/// Throws InternalError naming the value if the steps are not those of this graph: a value computed
/// twice or never, out of order, or from other operands than it has.
void verify(const StepList& list, const graph::Graph& graph);

/// A few lines per step: what leads, rides, is read, rounded and fixed.
std::string to_text(const StepList& list, const graph::Graph& graph);
/// The same for one of them.
std::string to_text(const Step& step, const graph::Graph& graph);

}  // namespace cosmic::compile
