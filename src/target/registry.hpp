// All targets of this build. The only place that names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "target/target.hpp"

namespace cosmic::target {

/// In order of preference; the first is the default.
std::vector<std::string> target_names();

/// Throws UserError naming the known targets if there is none of that name.
std::unique_ptr<Target> make_target(const std::string& name);

}  // namespace cosmic::target
