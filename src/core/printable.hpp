// Text from outside, made safe for a message: it must not reach the terminal unescaped, nor fill
// the screen.
#pragma once

#include <string>
#include <string_view>

namespace cosmic {

/// With anything but plain ASCII as \xNN.
std::string escaped(std::string_view text);

/// The same in single quotes, cut to a line: for messages.
std::string printable(std::string_view text);

}  // namespace cosmic
