// The IPU: all tiles compute, then all exchange, then all wait for each other, over and over (bulk
// synchronous). Everything lives in the tiles' own memory, code included.
#pragma once

#include "machine/family.hpp"

namespace cosmic::target::ipu {

inline constexpr std::string_view kName = "ipu";

const machine::Family& family();

}  // namespace cosmic::target::ipu
