// How often progress is drawn, by every bar of the program.
#pragma once

namespace cosmic::cli {

inline constexpr double kRedrawSeconds = 0.1;  // of a line that stays, on a terminal
inline constexpr double kLineSeconds = 5;      // between plain lines, elsewhere

}  // namespace cosmic::cli
