// Whether a timing was measured on the machine that it is shown for. It accompanies every figure,
// so that nothing modelled can look measured.
#pragma once

#include <string>
#include <string_view>

namespace cosmic {

/// modelled: the machine is not present. Its times come from formulas, and any clock measures the
/// host that computes in its place.
enum class Provenance { measured, modelled };

std::string to_string(Provenance provenance);

/// Marks every clock reading in the log and the files of a modelled run.
inline constexpr std::string_view kHostClockMark = "(host clock of a modelled run)";

/// The text as it is, or with that mark.
std::string marked(std::string text, Provenance provenance);

}  // namespace cosmic
