// An evaluation as one HTML page that needs nothing else: no network, no scripts, no fonts. It is
// well-formed XML as well, so that programs can read it.
#pragma once

#include <string>

#include "report/evaluation/evaluation.hpp"

namespace cosmic::report::evaluation {

std::string page(const Evaluation& evaluation);

}  // namespace cosmic::report::evaluation
