// Machines that run one kernel after another, each bound by arithmetic or by memory. They can be
// measured, so they show how good the method is.
#pragma once

#include "machine/family.hpp"

namespace cosmic::target::roofline {

inline constexpr std::string_view kName = "roofline";

const machine::Family& family();

}  // namespace cosmic::target::roofline
