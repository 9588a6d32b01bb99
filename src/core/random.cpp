#include "core/random.hpp"

#include <cmath>
#include <numbers>

namespace cosmic {
namespace {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection whose output on a counter passes
// BigCrush, which is all a counter-based generator needs.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) : key_(mix(seed + kGolden)) {
  for (const char c : name) {
    key_ = mix((key_ ^ static_cast<unsigned char>(c)) + kGolden);
  }
}

std::uint64_t RandomStream::next() {
  return mix(key_ + kGolden * ++counter_);
}

double RandomStream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace cosmic
