// How much memory a program needs, and for what: states live always, other values from the node
// that writes them to the last one that reads them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace cosmic::machine {

struct LiveTensor {
  graph::ValueId value;
  std::string layer;  ///< its name in the model, or that of the state
  std::string op;
  double bytes = 0;
  std::size_t first = 0;  ///< node that writes it
  std::size_t last = 0;   ///< node that reads it last, or the one before its bytes are handed on
};

struct Liveness {
  double always_live = 0;            ///< states
  double peak = 0;                   ///< the most that other values take at a time
  std::size_t peak_at = 0;           ///< index of the node where they do
  std::vector<LiveTensor> tensors;   ///< all but states, in program order
  std::vector<LiveTensor> at_peak;   ///< alive there, largest first
  std::vector<LiveTensor> states;    ///< largest first
  std::vector<double> over_program;  ///< bytes alive, states not counted, as each node runs
};

/// A result takes over the bytes of an operand that dies there if it is computed pixel by pixel and
/// is as large; the new value of a state those of the state.
Liveness liveness_of(const graph::Graph& graph);

/// Those alive as a node runs, states not counted, largest first. Their bytes are those of
/// `over_program` there.
std::vector<LiveTensor> alive_at(const Liveness& liveness, std::size_t node);

}  // namespace cosmic::machine
