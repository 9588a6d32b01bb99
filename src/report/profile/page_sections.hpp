// The parts of a profile's page, as HTML.
#pragma once

#include <string>

#include "report/profile/run_profile.hpp"

namespace cosmic::report::profile {

/// What was found, in a sentence.
std::string headline(const RunProfile& profile);

std::string summary_section(const RunProfile& profile);
std::string time_section(const RunProfile& profile);
std::string ops_section(const RunProfile& profile);
std::string layers_section(const RunProfile& profile);
std::string memory_section(const RunProfile& profile);
std::string compiler_section(const RunProfile& profile);
std::string provenance_section(const RunProfile& profile);

}  // namespace cosmic::report::profile
