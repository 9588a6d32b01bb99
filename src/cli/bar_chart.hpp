// A curve as a chart of unicode blocks, for the terminal and for logs.
#pragma once

#include <span>
#include <string>

namespace cosmic::cli {

/// One column of text per value or, if there are more, per mean of neighbouring ones. The vertical
/// scale starts at 0 and is labelled on the left.
std::string bar_chart(std::span<const double> values, std::size_t columns, std::size_t lines);

}  // namespace cosmic::cli
