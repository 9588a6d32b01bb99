// A model as a program for a machine that is not here, in the form that predictions need: with the
// passes that every target runs, and with the choices that vendors' compilers leave to people:
// what is fused, what is computed again instead of kept, and where a pipeline is cut.
#pragma once

#include "compile/optimizer.hpp"
#include "compile/precision.hpp"
#include "graph/graph.hpp"
#include "model/network.hpp"

namespace cosmic::session {

/// store: every result of an op is kept, and nothing is folded: an op is an op, as in an eager
/// framework. activations_in_place: those of ReLU take the place of
/// their operand, as PyTorch's in-place ReLU does. recompute: whatever is computed pixel by pixel
/// has no memory of its own, as where a compiler fuses it with what reads it.
enum class LocalValues { store, activations_in_place, recompute };

/// yes: of what the backward pass reads, only the results of some layers are kept and the rest is
/// computed again from them. Which ones is chosen so that memory is least.
enum class Recomputation { no, yes };

struct ProgramOptions {
  compile::Precision precision = {};
  LocalValues local_values = LocalValues::recompute;
  compile::Optimizer optimizer = compile::Sgd{.momentum = 0.9};
  Recomputation recomputation = Recomputation::no;
  std::int64_t stages = 1;  ///< of a pipeline, cut where they cost about the same
};

/// Forward, loss, backward, update. Labels are one for each row of logits [rows, classes], else one
/// for each pixel of the image.
graph::Graph training_program(const model::Network& network, const model::Loss& loss,
                              graph::Shape image, const ProgramOptions& options);
graph::Graph inference_program(const model::Network& network, graph::Shape image,
                               const ProgramOptions& options);

}  // namespace cosmic::session
