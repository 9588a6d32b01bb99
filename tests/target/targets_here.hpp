// The targets that tests can run on: those of this build whose machine is here. Which are not is
// said once, by the conformance test `TargetOfThisBuild`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "target/registry.hpp"

namespace cosmic::target {

inline std::vector<std::string> targets_here() {
  std::vector<std::string> names = target_names();
  std::erase_if(names, [](const std::string& name) { return !availability_of(name).ok; });
  return names;
}

}  // namespace cosmic::target
