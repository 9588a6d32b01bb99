// The profile of a run for programs.
#pragma once

#include <string>

#include "profile/run_profile.hpp"

namespace cosmic::profile {

std::string to_json(const RunProfile& profile);

}  // namespace cosmic::profile
