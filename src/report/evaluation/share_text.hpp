// Shares as people read them: in percent, with or without their interval.
#pragma once

#include <string>

#include "report/evaluation/interval.hpp"
#include "report/page/markup.hpp"

namespace cosmic::report::evaluation {

using page::percent_text;

/// "97.3 %" and the way to both ends of the interval as small print.
std::string percent_text(const Share& share, int decimals = 1);

}  // namespace cosmic::report::evaluation
