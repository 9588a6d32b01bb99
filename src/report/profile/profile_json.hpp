// The profile of a run for programs.
#pragma once

#include <string>

#include "report/profile/run_profile.hpp"

namespace cosmic::report::profile {

std::string to_json(const RunProfile& profile);

}  // namespace cosmic::report::profile
