// Random numbers that depend on a seed and a name, not on who asked first: number k of stream
// (seed, name) is always the same, so adding a parameter or a thread changes no other stream.
#pragma once

#include <cstdint>
#include <string_view>

namespace cosmic {

inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;  ///< the step of a counter

/// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection whose output on a counter passes
/// BigCrush, which is all a counter-based generator needs.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  std::uint64_t next() { return mix(key_ + kGoldenRatio * ++counter_); }
  /// Uniform in [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller, one value per two uniforms; no state besides the counter).
  double normal();

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace cosmic
