// From the program of a network to ONNX nodes, op by op.
#pragma once

#include <string>

#include "checkpoint/onnx/onnx_graph.hpp"
#include "graph/graph.hpp"
#include "session/model_state.hpp"

namespace cosmic::checkpoint::onnx {

/// Adds all that the program's output `wanted` needs to `onnx`, weights from `state` included, and
/// returns the name that it has there; the program's inputs keep their names. Whatever the batch
/// of the program is, the nodes take any. Throws UserError naming an op that has no ONNX form.
std::string add_nodes(const graph::Graph& program, const std::string& wanted,
                      const session::ModelState& state, OnnxGraph& onnx);

}  // namespace cosmic::checkpoint::onnx
