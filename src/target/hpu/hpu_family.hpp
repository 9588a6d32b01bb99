// Gaudi: a matrix engine of a fixed geometry and vector cores beside it, both fed from one memory.
// The compiler cuts a program into bundles, in which both work at the same time as far as they can.
#pragma once

#include "machine/family.hpp"

namespace cosmic::target::hpu {

inline constexpr std::string_view kName = "hpu";

const machine::Family& family();

}  // namespace cosmic::target::hpu
