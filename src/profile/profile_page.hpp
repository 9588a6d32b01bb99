// The profile of a run for people, as one HTML page.
#pragma once

#include <string>

#include "profile/run_profile.hpp"

namespace cosmic::profile {

std::string to_page(const RunProfile& profile);

}  // namespace cosmic::profile
