// A graph or a plan as bytes and back. What is read has been verified as if a pass had made it:
// ops, types, places in memory. Equal programs give equal bytes, so bytes also tell programs apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compile/plan.hpp"

namespace cosmic::compile::artifact {

std::string graph_bytes(const graph::Graph& graph);

/// Without the plan's origin and the times of its passes.
std::string plan_bytes(const compile::Plan& plan);

/// Throws DataError unless the bytes are those of a sound plan.
compile::Plan plan_of(std::string_view bytes);

}  // namespace cosmic::compile::artifact
