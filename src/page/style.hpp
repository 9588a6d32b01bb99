// The style sheet that all pages share: light, dark and printed; no fonts or pictures from
// elsewhere. A page adds rules for what only it has.
#pragma once

#include <string_view>

namespace cosmic::page {

std::string_view common_style();

}  // namespace cosmic::page
