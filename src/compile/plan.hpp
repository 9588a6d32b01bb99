// A plan is a graph that is ready to be compiled: rewritten, in execution order, with a place for
// every stored value. Most live in one arena, where values whose lifetimes do not overlap share
// memory; the new value of a state goes right where the old one was, if nobody needs that any more.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compile/pass.hpp"
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

struct Plan {
  graph::Graph graph;
  /// One per value; empty for what does not live in the arena.
  std::vector<std::optional<Placement>> placements;
  /// One per value: the state it overwrites in place, if it does.
  std::vector<std::optional<graph::ValueId>> overwrites;
  std::int64_t arena_bytes = 0;
  std::int64_t peak_live_bytes = 0;  ///< the most bytes alive at once: no plan can need less
  std::vector<PassReport> passes;
};

/// Lifetimes to offsets. A value may take over the buffer of one that dies where it is born; then
/// the largest buffers come first, each at the lowest offset where it overlaps no buffer that lives
/// at the same time.
Plan plan_memory(graph::Graph graph, const TargetInfo& target);

/// Throws InternalError naming two values that live at the same time in the same bytes.
void verify(const Plan& plan);

}  // namespace cosmic::compile
