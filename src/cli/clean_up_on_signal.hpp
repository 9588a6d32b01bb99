// A command that a signal ends leaves no unfinished files behind.
#pragma once

namespace cosmic::cli {

/// From here on, signals that end the program do so after its unfinished files are removed. Signals
/// that are ignored or handled already are left alone.
void clean_up_on_signals();

}  // namespace cosmic::cli
