// Rules for what only the page of an evaluation has: confusion matrices and pictures of events.
#pragma once

#include <string_view>

namespace cosmic::report::evaluation {

std::string_view evaluation_style();

}  // namespace cosmic::report::evaluation
