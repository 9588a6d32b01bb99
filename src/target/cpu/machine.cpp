#include "target/cpu/machine.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "target/cpu/blocked_image.hpp"

namespace cosmic::target::cpu {

std::string machine() {
  // Of the instruction sets that the kernels were built for, the best that this machine has. In
  // Highway's numbering the better one has the lower bit.
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  const std::int64_t best = usable & -usable;
  return hwy::TargetName(best) + std::string(" vectors, blocks of ") + std::to_string(kBlock) +
         " channels";
}

}  // namespace cosmic::target::cpu
