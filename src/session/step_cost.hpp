// What a step of a plan does and moves, with all that it fuses.
#pragma once

#include "compile/plan.hpp"
#include "graph/graph.hpp"

namespace cosmic::session {

/// The operations of its leader and its riders, by their ops' own count; and the bytes that it
/// has to move, each stored value in its own format and once, however many of them read it. What is
/// evaluated while it is read counts as the stored values that it is made of.
graph::Cost cost_of_step(const compile::Plan& plan, const compile::Step& step);

}  // namespace cosmic::session
