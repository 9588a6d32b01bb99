// A description as the text that parse_description() reads.
#pragma once

#include <string>

#include "machine/description.hpp"

namespace cosmic::machine {

/// Of the present stack, whose figures are given as the machine's own.
std::string to_yaml(const Description& machine);

}  // namespace cosmic::machine
