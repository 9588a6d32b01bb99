#pragma once

#include "compile/pass.hpp"

namespace cosmic::target::cpu {

/// The gradient of a leaky rectifier asks where its operand was positive. Its result was positive
/// in the same places; reading that instead lets the operand go, and the rectifier work in place.
compile::Pass gate_by_activation();

}  // namespace cosmic::target::cpu
