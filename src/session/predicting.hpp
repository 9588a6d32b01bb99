// What the machine of a modelled target would need for a program, asked before the program runs.
#pragma once

#include <optional>
#include <vector>

#include "compile/pass.hpp"
#include "graph/graph.hpp"
#include "machine/prediction.hpp"
#include "session/options.hpp"
#include "target/target.hpp"

namespace cosmic::session {

machine::ExecutionOptions execution_of(const Options& options);

/// `passes` are those for the target's machine_info(). Nothing for a target that is measured.
/// The stages of a training pipeline compute activations again instead of keeping them.
/// Throws CapacityError, which says what is too large and what would help, if the program surely
/// does not fit.
std::optional<machine::Prediction> predict_program(const graph::Graph& program,
                                                   const std::vector<compile::Pass>& passes,
                                                   const target::Target& target,
                                                   const Options& options, Purpose purpose);

}  // namespace cosmic::session
