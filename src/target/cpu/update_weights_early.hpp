#pragma once

#include "compile/pass.hpp"

namespace cosmic::target::cpu {

/// Puts the update of a linear layer's weights right after their gradient, which is then still in
/// the cache, and whose room is free for others afterwards.
compile::Pass update_weights_early();

}  // namespace cosmic::target::cpu
