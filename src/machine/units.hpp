// Units of the figures of a machine. Formulas compute in base units (bytes, seconds, hertz, flops a
// second); a description may write whatever unit its source does.
#pragma once

#include <string>
#include <string_view>

namespace cosmic::machine {

enum class Dimension {
  count,
  ratio,
  cycles,
  bytes,
  seconds,
  hertz,
  bytes_per_second,
  bytes_per_cycle,
  flops_per_second
};

/// How many base units one `unit` is. Throws UserError naming the units that would do if there is
/// none of that name in the dimension.
double scale_of(std::string_view unit, Dimension dimension);

/// The units that a figure of this dimension may have: "B, KiB, MiB, ...".
std::string units_of(Dimension dimension);

}  // namespace cosmic::machine
