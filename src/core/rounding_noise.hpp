// The noise of stochastic rounding. It is a function of the seed, the run of the program, the value
// that is written and the place in it, and of nothing else: not of threads, not of time. The same
// run gives the same bits again, even after a restart.
#pragma once

#include <cstdint>

namespace cosmic {

/// Tells runs of a program apart.
std::uint64_t noise_of_run(std::uint64_t seed, std::uint64_t run);

/// Tells rows of a value apart. A row is whatever a target writes in one piece.
std::uint32_t noise_of_row(std::uint64_t run_noise, std::uint64_t value, std::uint64_t row);

/// Uniform among all 32-bit numbers, for element `i` of a row. Few 32-bit operations, so that
/// kernels can do it for a whole vector.
inline std::uint32_t noise_of_element(std::uint32_t row_noise, std::uint32_t i) {
  // The golden ratio spreads neighbours; a multiply-xorshift mixer (Wellons' triple-checked
  // constants) decorrelates their bits.
  std::uint32_t x = row_noise + i * 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// Set in `value` for the running sums of the products behind a value: they are rounded with other
/// noise than the value itself.
inline constexpr std::uint64_t kNoiseOfPartials = std::uint64_t{1} << 63;

/// Elements of a row where a value has no rows of its own.
inline constexpr std::int64_t kNoiseRow = 4096;

}  // namespace cosmic
