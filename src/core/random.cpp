#include "core/random.hpp"

#include <cmath>
#include <numbers>

namespace cosmic {

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : key_(mix(seed + kGoldenRatio)) {
  for (const char c : name) {
    key_ = mix((key_ ^ static_cast<unsigned char>(c)) + kGoldenRatio);
  }
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace cosmic
