// What the CPU target answers the compiler: which layout its images have, what its kernels evaluate
// while they read, who rides on whom, and what may lie where.
#pragma once

#include "compile/target_info.hpp"

namespace cosmic::target::cpu {

compile::TargetInfo cpu_info();

}  // namespace cosmic::target::cpu
