// Text from outside, made fit for a message: what a stranger wrote must not reach the terminal as
// it is, nor fill the screen.
#pragma once

#include <string>
#include <string_view>

namespace cosmic {

/// In single quotes, with anything but plain ASCII as \xNN, and cut to a line.
std::string printable(std::string_view text);

}  // namespace cosmic
