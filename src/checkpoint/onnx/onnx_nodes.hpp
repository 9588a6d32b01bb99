// From a program to ONNX nodes, op by op.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "graph/graph.hpp"
#include "session/model_state.hpp"

namespace cosmic::checkpoint::onnx {

/// What a tensor of the program is in the file. Labels are 32-bit integers there, which all
/// runtimes compare.
ElementType element_type_of(graph::DType type);

/// What becomes of states: constants with the values of a state, or, if there is none, inputs of
/// the same name, which the caller declares.
struct StateSource {
  const session::ModelState* constants = nullptr;
};

/// Adds all that the values `wanted` need to `onnx` and returns the names that they have there; the
/// program's inputs keep their names. Throws UserError naming an op that has no ONNX form.
///
/// Whatever the batch of a network in evaluation is, its nodes take any. Those of a training step
/// take the batch of the program.
std::vector<std::string> add_nodes(const graph::Graph& program,
                                   std::span<const graph::ValueId> wanted,
                                   const StateSource& states, OnnxGraph& onnx);

}  // namespace cosmic::checkpoint::onnx
