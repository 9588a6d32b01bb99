// A plan is a graph that is ready to be compiled: rewritten, cut into steps, with a place for every
// stored value. Most live in one arena, where values whose lifetimes do not overlap share
// memory; the new value of a state goes right where the old one was, if nobody needs that any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/pass.hpp"
#include "compile/step.hpp"
#include "compile/target_info.hpp"
#include "graph/graph.hpp"

namespace cosmic::compile {

/// Where a value lives inside the arena, and when: from the node that writes it to the last node
/// that reads it (directly, or through values that are recomputed where they are read).
struct Placement {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::size_t first = 0;  ///< index of the writing node
  std::size_t last = 0;   ///< index of the last reading node
};

/// One thing that a plan depends on, such as its target. Equal facts make equal plans, so they are
/// the key under which a plan is kept, and what differs says why a plan cannot be used.
struct Fact {
  std::string name;
  std::string value;

  bool operator==(const Fact&) const = default;
};

using Facts = std::vector<Fact>;

/// How a plan came to be: made here by the passes, or found as an earlier process made it.
struct PlanOrigin {
  enum class Cache { not_asked, hit, miss };

  Facts made_from;
  std::string found_in;  ///< the file it was read from; empty if it was made here
  Cache cache = Cache::not_asked;
  std::vector<std::string> notes;     ///< for a log
  std::vector<std::string> warnings;  ///< the same, but somebody should look after it
};

struct Plan {
  graph::Graph graph;
  StepList steps;
  /// One per value; empty for what does not live in the arena.
  std::vector<std::optional<Placement>> placements;
  /// One per value: the state it overwrites in place, if it does.
  std::vector<std::optional<graph::ValueId>> overwrites;
  std::int64_t arena_bytes = 0;
  std::int64_t peak_live_bytes = 0;  ///< the most bytes alive at once: no plan can need less
  std::vector<PassReport> passes;    ///< those that ran; none if the plan was found
  double planning_seconds = 0;       ///< after the passes; none if the plan was found
  PlanOrigin origin;
};

/// Cuts a finished program into steps and turns lifetimes into offsets. A value may take over the
/// buffer of one that dies where it is born; then the largest buffers come first, each at the
/// lowest offset where it overlaps no buffer that lives at the same time or that the target wants
/// apart.
Plan plan_memory(graph::Graph graph, const TargetInfo& target);

/// The update that this value makes in place; null if it overwrites no state.
const graph::StateUpdate* update_in_place(const Plan& plan, graph::ValueId value);

/// Throws InternalError naming the value if one has no place or a wrong one: outside the arena, too
/// small, given up before its last reader, or in the same bytes as another one that lives then; or
/// if the steps are not those of the graph. The graph itself is graph::verify's business.
void verify(const Plan& plan);

/// Also asks the target whether each value has the room and the alignment it needs there, whether
/// it may be written where it is, and whether the steps are those that it would be given.
void verify(const Plan& plan, const TargetInfo& target);

}  // namespace cosmic::compile
