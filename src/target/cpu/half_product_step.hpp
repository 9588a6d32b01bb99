// The product of two matrices whose sums are kept in float16 (graph::partials_of).
#pragma once

#include <memory>

#include "target/cpu/step.hpp"

namespace cosmic::target::cpu {

std::unique_ptr<Step> make_half_product_step(const Memory& memory, graph::ValueId product);

}  // namespace cosmic::target::cpu
