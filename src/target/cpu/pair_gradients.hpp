#pragma once

#include "compile/pass.hpp"

namespace cosmic::target::cpu {

/// Puts the gradient of a convolution's kernel right after the gradient of its image, on which it
/// can then ride.
compile::Pass pair_gradients();

}  // namespace cosmic::target::cpu
