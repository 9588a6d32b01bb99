// What the program says to whoever starts it without a word.
#pragma once

#include <string_view>

namespace cosmic::cli {

/// Three commands that lead to a tagged event on the screen, and where to find the others.
std::string_view first_steps();

}  // namespace cosmic::cli
