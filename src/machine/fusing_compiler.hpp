// What a program is compiled for when a machine is only described: by a compiler that does what
// those of the vendors do.
#pragma once

#include "compile/target_info.hpp"

namespace cosmic::machine {

/// Cheap arithmetic on pixels is fused with what reads it. Nothing is fitted to a host, so that a
/// prediction is the same wherever it is made.
compile::TargetInfo fusing_compiler();

}  // namespace cosmic::machine
