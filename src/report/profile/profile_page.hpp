// The profile of a run for people, as one HTML page.
#pragma once

#include <string>

#include "report/profile/run_profile.hpp"

namespace cosmic::report::profile {

std::string to_page(const RunProfile& profile);

}  // namespace cosmic::report::profile
