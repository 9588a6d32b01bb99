// The product of two matrices whose sums are kept in float16 (graph::partials_of).
#pragma once

#include <memory>

#include "target/cpu/prepared_step.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<PreparedStep> make_half_product_step(const Memory& memory,
                                                     const compile::Step& step, const Team& team);

}  // namespace cosmic::target::cpu
