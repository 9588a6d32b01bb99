// The style sheet that all pages share: light, dark and printed; no fonts or pictures from
// elsewhere. A page adds rules for what only it has.
#pragma once

#include <string>
#include <string_view>

namespace cosmic::report::page {

/// Colours and letters alone, for pages that have a layout of their own. A page follows the system
/// into the dark, unless its root has data-theme="light" or "dark".
std::string base_style();

/// The whole sheet: base_style() and how texts, tables and plots look.
std::string common_style();

/// For pages about shares of time and memory: twelve hues that are told apart in the light and in
/// the dark, a bar of parts, a bar in a cell.
std::string_view share_style();

}  // namespace cosmic::report::page
