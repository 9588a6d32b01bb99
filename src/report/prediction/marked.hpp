// Figures of the page. What came out of a formula carries a sign that stays when it is copied, and
// what a description gives says so to the style sheet: nothing on the page may look measured.
#pragma once

#include <string>
#include <string_view>

#include "machine/prediction.hpp"

namespace cosmic::report::prediction {

inline constexpr std::string_view kModelledSign = "\xe2\x89\x88\xe2\x80\xaf";  // almost equal to

/// HTML: the sign and the text, in an element of its own.
std::string modelled(const std::string& text);
/// HTML: a figure that the machine's description gives, or a count of the program.
std::string given(const std::string& text);

std::string modelled(machine::ModelledTime time);
std::string modelled(machine::ModelledBytes bytes);
std::string modelled_share(double share, int decimals = 0);
/// With its error bar behind it.
std::string modelled(const machine::ModelledRange& range);
/// Nothing where both ends are the same.
std::string error_bar(const std::string& low, const std::string& high);

/// The same without an element, for drawings.
std::string signed_text(machine::ModelledTime time);
std::string signed_text(machine::ModelledBytes bytes);

}  // namespace cosmic::report::prediction
