// Where the ticks of an axis go, and what is written at them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cosmic::picture {

/// Round values in [low, high], a step of 1, 2, 2.5 or 5 times a power of ten apart; about `count`
/// of them.
std::vector<double> linear_ticks(double low, double high, int count);

/// 1, 2 and 5 times the powers of ten in [low, high], both positive.
std::vector<double> logarithmic_ticks(double low, double high);

/// "0.25", "500"; no trailing zeros.
std::string tick_text(double value);

/// "1,234,567"
std::string grouped(std::int64_t value);

}  // namespace cosmic::picture
