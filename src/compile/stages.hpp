// A model spread over several parts of a machine: which stage each node of a program runs in. Nodes
// keep their stage through all passes, and a gradient belongs to the stage of its forward op. A
// machine that is one piece computes the same with or without stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::compile {

/// What a stage has to do and to keep, forwards and backwards.
struct StageReport {
  std::vector<std::string> layers;  ///< in program order
  graph::Cost cost;
  std::int64_t state_bytes = 0;
};

/// One list of blocks per stage; what none of them names belongs to the stage of the op before it,
/// at first to stage 0. Throws UserError for a block that is none, and for a stage that gets
/// nothing because others name blocks inside its own.
void assign_stages(graph::Graph& forward, const std::vector<std::vector<std::string>>& blocks);

/// Cuts the program into `count` runs of layers so that the most expensive is as cheap as can be.
/// Throws UserError for more stages than layers.
void assign_stages(graph::Graph& forward, std::int64_t count);

/// Throws UserError naming a layer that reads from a later stage: a pipeline goes one way.
void require_one_way(const graph::Graph& forward);

/// Of the programs of one model, whose nodes have stages; one report per stage. A state that
/// several programs use counts once.
std::vector<StageReport> stage_reports(const std::vector<const graph::Graph*>& programs,
                                       std::int64_t count);

}  // namespace cosmic::compile
