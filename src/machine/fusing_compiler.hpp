// What a program is compiled for when a machine is only described: by a compiler that does what
// those of the vendors do, and keeps what a software stack keeps.
#pragma once

#include <string>
#include <vector>

#include "compile/pass.hpp"
#include "compile/target_info.hpp"
#include "machine/description.hpp"

namespace cosmic::machine {

/// Nothing is fitted to a host, so that a prediction is the same wherever it is made.
compile::TargetInfo fusing_compiler(Stored stored = Stored::fused);

/// Names of passes that one of those compilers does not do: what runs op by op
/// folds nothing.
std::vector<std::string> passes_left_out(const compile::TargetInfo& compiler,
                                         const std::vector<compile::Pass>& passes);

}  // namespace cosmic::machine
