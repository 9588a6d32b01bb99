// Programs that were compiled before: how they are told apart, and where Options say that they may
// be: in an executable, or in a cache.
#pragma once

#include <optional>
#include <vector>

#include "compile/pass.hpp"
#include "compile/plan.hpp"
#include "compile/target_info.hpp"
#include "session/options.hpp"

namespace cosmic::session {

/// Everything that decides what the compiler makes of a program.
compile::Facts facts_of(const graph::Graph& program, const std::vector<compile::Pass>& passes,
                        const compile::TargetInfo& target, const Options& options);

/// The plan made from these facts. Throws DataError if Options name an executable that does not
/// have it; a cache may have it or not. What there is to say for a plan that is made instead goes
/// to `origin`.
std::optional<compile::Plan> find_compiled(const compile::Facts& facts,
                                           const compile::TargetInfo& target,
                                           const Options& options, compile::PlanOrigin& origin);

/// Gives the plan to the cache, if there is one.
void keep_compiled(compile::Plan& plan, const Options& options);

}  // namespace cosmic::session
