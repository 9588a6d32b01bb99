// The style sheet of a report: light, dark and printed; no fonts or pictures from elsewhere.
#pragma once

#include <string_view>

namespace cosmic::report {

std::string_view page_style();

}  // namespace cosmic::report
