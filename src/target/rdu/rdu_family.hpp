// The RDU: a section is a part of the program laid out on the chip at once, its ops as stages of a
// pipeline. Sections run one after another, and what passes between them goes through the memory
// beside the chip.
#pragma once

#include "machine/family.hpp"

namespace cosmic::target::rdu {

inline constexpr std::string_view kName = "rdu";

const machine::Family& family();

}  // namespace cosmic::target::rdu
