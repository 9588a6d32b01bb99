// Text from outside, made fit for a message: what a stranger wrote must not reach the terminal as
// it is, nor fill the screen.
#pragma once

#include <string>
#include <string_view>

namespace cosmic {

/// With anything but plain ASCII as \xNN.
std::string escaped(std::string_view text);

/// The same in single quotes, cut to a line: for messages.
std::string printable(std::string_view text);

}  // namespace cosmic
