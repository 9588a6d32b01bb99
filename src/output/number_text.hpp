// Numbers as the reference prints them, so that scripts that read its logs read ours.
#pragma once

#include <string>

namespace cosmic::output {

/// Python's format(value, ".3") for `digits` = 3: that many significant digits at most, no trailing
/// zeros but always one digit after the point, and an exponent where the digits do not reach it:
/// 0.166, 3.9, 1.0, 5.1e+01 (two digits), 1e-05.
std::string significant_digits(double value, int digits);

/// `decimals` digits after the point. NaN has no sign, which not every reader would understand.
std::string fixed_point(double value, int decimals);

}  // namespace cosmic::output
