#include "core/rounding_noise.hpp"

#include "core/random.hpp"

namespace cosmic {

std::uint64_t noise_of_run(std::uint64_t seed, std::uint64_t run) {
  return mix(mix(seed + kGoldenRatio) + kGoldenRatio * (run + 1));
}

std::uint32_t noise_of_row(std::uint64_t run_noise, std::uint64_t value, std::uint64_t row) {
  const std::uint64_t of_value = mix(run_noise + kGoldenRatio * (value + 1));
  return static_cast<std::uint32_t>(mix(of_value + kGoldenRatio * (row + 1)) >> 32);
}

}  // namespace cosmic
