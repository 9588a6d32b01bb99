#pragma once

#include "compile/target_info.hpp"

namespace cosmic::target::cuda {

/// What the compiler is told about GPUs; `machine` is what plans rely on.
compile::TargetInfo cuda_info(std::string machine);

}  // namespace cosmic::target::cuda
