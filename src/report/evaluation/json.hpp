// An evaluation as JSON: the numbers of the page and those of every event, for programs.
#pragma once

#include <string>

#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

/// Numbers that do not exist (the purity of nothing) are null.
std::string to_json(const Evaluation& evaluation);

}  // namespace cosmic::report::evaluation
