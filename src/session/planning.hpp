// What all models of a session have in common: choose the target, turn a graph into a plan, and
// name what goes into programs and comes out of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compile/pipeline.hpp"
#include "session/compile_report.hpp"
#include "session/model_state.hpp"
#include "session/options.hpp"
#include "target/target.hpp"

namespace cosmic::session {

inline constexpr const char* kImage = "image";
inline constexpr const char* kLabel = "label";
inline constexpr const char* kLogits = "logits";
inline constexpr const char* kScores = "scores";

/// Throws UserError for options that cannot be.
std::unique_ptr<target::Target> chosen_target(const Options& options, Purpose purpose);

/// Puts the nodes into the stages that the options ask for, and adds an output for each anchor.
/// Throws UserError for a block that the network does not have.
void annotate(graph::Graph& forward, const Options& options);

/// The name of the output that carries an anchor.
std::string anchor_output(const std::string& layer);

/// How the values of this run's programs are kept.
compile::Precision precision_of(const Options& options);

/// Found as it was compiled before, if Options say where, or made by the passes. Throws TargetError
/// if the target cannot run the program, before the passes or after them; DataError if Options name
/// an executable that does not have it.
compile::Plan plan_program(graph::Graph graph, const std::vector<compile::Pass>& passes,
                           const target::Target& target, const Options& options);

/// `options` is used as long as the result.
target::CompileOptions kernel_options(const Options& options);

/// Throws UserError if a state that the program reads is missing: one made for another network
/// would be read where it is not.
void require_states(const ModelState& state, const graph::Graph& program);

}  // namespace cosmic::session
