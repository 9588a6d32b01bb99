// A model as a program for a machine that is not here, in the form that predictions need: with the
// passes that every target runs, and with the choices that vendors' compilers leave to people:
// what is fused, what is computed again instead of kept, and where a pipeline is cut.
#pragma once

#include "compile/optimizer.hpp"
#include "compile/pass.hpp"
#include "compile/precision.hpp"
#include "graph/graph.hpp"
#include "machine/description.hpp"
#include "model/network.hpp"

namespace cosmic::session {

/// yes: of what the backward pass reads, only the results of some layers are kept and the rest is
/// computed again from them. Which ones is chosen so that memory is least.
enum class Recomputation { no, yes };

struct ProgramOptions {
  compile::Precision precision = {};
  machine::Stored stored = machine::Stored::fused;  ///< see description.hpp
  machine::StackWeights weights = machine::StackWeights::as_set;
  std::vector<compile::Pass> format_passes = {};  ///< of the machine's family
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
