// Several trainings on one page: their curves on top of each other, the settings that differ, the
// figures at their ends, and the same events as each of them tags them.
#pragma once

#include <string>
#include <vector>

#include "report/comparison/compared_run.hpp"

namespace cosmic::report::comparison {

std::string comparison_page(const std::vector<ComparedRun>& runs);

/// The same numbers for programs.
std::string to_json(const std::vector<ComparedRun>& runs);

}  // namespace cosmic::report::comparison
