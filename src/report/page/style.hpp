// The style sheet that all pages share: light, dark and printed; no fonts or pictures from
// elsewhere. A page adds rules for what only it has.
#pragma once

#include <string_view>

namespace cosmic::report::page {

std::string_view common_style();

/// For pages about shares of time and memory: twelve hues that are told apart in the light and in
/// the dark, a bar of parts, a bar in a cell.
std::string_view share_style();

}  // namespace cosmic::report::page
