// All targets of this build. The only place that names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "target/target.hpp"

namespace cosmic::target {

/// In order of preference; the first is the default.
std::vector<std::string> target_names();

/// The target that serves a compute mode, such as "CPU". Throws TargetError if this build has none:
/// nothing runs anywhere but where it was asked to.
std::string target_of_compute_mode(const std::string& mode);

/// Throws UserError naming the known targets if there is none of that name.
std::unique_ptr<Target> make_target(const std::string& name);

}  // namespace cosmic::target
