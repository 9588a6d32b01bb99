// Whether a timing is about the machine that it is shown for. It travels with every figure, so that
// nothing modelled can look measured.
#pragma once

#include <string>
#include <string_view>

namespace cosmic {

/// modelled: the machine is not here. Its times come out of formulas, and what a clock shows
/// meanwhile is the host that computes in its place.
enum class Provenance { measured, modelled };

std::string to_string(Provenance provenance);

/// Stands beside every reading of a clock in the log and the files of a modelled run.
inline constexpr std::string_view kHostClockMark = "(host clock of a modelled run)";

/// The text as it is, or with that mark.
std::string marked(std::string text, Provenance provenance);

}  // namespace cosmic
