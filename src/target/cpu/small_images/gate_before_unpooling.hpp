#pragma once

#include "compile/pass.hpp"

namespace cosmic::target::cpu {

/// Behind a max pool, a leaky rectifier's gradient gates what the pool's gradient has spread out:
/// zeros, and one number per window, where the operand is as large as the pooled value. Gating that
/// number before it is spread out is the same on an image of a fraction of the size, and the pool's
/// gradient is then the last to read its operand and can be written over it.
compile::Pass gate_before_unpooling();

}  // namespace cosmic::target::cpu
