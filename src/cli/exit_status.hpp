// What the program says to whoever started it, by the one number that a script sees.
#pragma once

#include <string>

namespace cosmic::cli {

// cosmic::exit_status (core/error.hpp) gives the numbers of errors; these are the others.
inline constexpr int kFinished = 0;
inline constexpr int kAnswerIsNo = 1;  ///< it ran to its end and found a difference
inline constexpr int kUsageError = 2;  ///< of the command line; UserError has the same
inline constexpr int kDoesNotFit = 6;  ///< the network is too large for the machine
inline constexpr int kInternalError = 70;
/// BSD's "temporary failure": the same command, given again, goes on.
inline constexpr int kStopped = 75;

/// All of them as `--help` shows them.
std::string exit_status_text();

}  // namespace cosmic::cli
