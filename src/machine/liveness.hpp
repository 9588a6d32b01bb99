// How much memory a program needs, and for what: states live always, other values from the node
// that writes them to the last one that reads them. A program that is cut into stages needs it on
// several machines.
#pragma once

#include <string>
#include <string_view>
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

/// What a LiveTensor that is a state of the optimizer is written by.
inline constexpr std::string_view kOptimizerState = "optimizer state";

/// The memory of one stage. What it reads of another stage is there, too, from its first reader in
/// this stage to the last; the stage that wrote it keeps it only for readers of its own. A value
/// that skips stages passes through them.
struct StageLiveness {
  double states = 0;
  double accumulators = 0;       ///< not in the program: a float32 sum for each parameter
  double optimizer = 0;          ///< of those: moments and the like
  double kept_for_backward = 0;  ///< of one run, between its forward and its backward pass
  double received = 0;           ///< from other stages, for one run
  std::vector<LiveTensor> state_tensors;
  std::vector<LiveTensor> tensors;   ///< all but states, as long as this stage holds them
  std::vector<double> over_program;  ///< bytes alive, states not counted, as each node runs
};

struct Liveness {
  double always_live = 0;             ///< states
  double peak = 0;                    ///< the most that other values take at a time
  std::size_t peak_at = 0;            ///< index of the node where they do
  std::vector<LiveTensor> tensors;    ///< one per node; those without memory have no bytes
  std::vector<LiveTensor> at_peak;    ///< alive there, largest first
  std::vector<LiveTensor> states;     ///< largest first
  std::vector<double> over_program;   ///< bytes alive, states not counted, as each node runs
  double kept_for_backward = 0;       ///< of all stages
  std::vector<StageLiveness> stages;  ///< at least one
};

/// Runs that have been through a stage of a training pipeline forwards and not yet backwards: the
/// first stage waits longest.
double runs_in_flight(std::size_t stage, std::size_t stages);

/// A result takes over the bytes of an operand that dies there if it is computed pixel by pixel and
/// is as large; the new value of a state those of the state.
Liveness liveness_of(const graph::Graph& graph);

/// Those alive as a node runs, largest first. Their bytes are those of `over_program` there.
std::vector<LiveTensor> alive_at(const std::vector<LiveTensor>& tensors, std::size_t node);

}  // namespace cosmic::machine
