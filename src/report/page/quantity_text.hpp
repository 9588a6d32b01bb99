// Quantities with their units, the way people read them: three digits and a prefix.
#pragma once

#include <string>
#include <string_view>

namespace cosmic::report::page {

/// "12.3 GFLOP/s" for 1.23e10 and "FLOP/s"; powers of ten, so that 1 GB is 10^9 bytes.
std::string quantity_text(double value, std::string_view unit);

/// "12.3 ms", "4.56 s"; from ten minutes on in minutes.
std::string seconds_text(double seconds);

}  // namespace cosmic::report::page
