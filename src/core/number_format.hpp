// The number formats a value can be written in. Arithmetic is float32 everywhere; a format says
// which numbers survive being written. This is the scalar definition: every target's kernels must
// give these very bits.
//
//   bf16: the upper half of a float32; its range, 8 bits of precision
//   f16:  IEEE half; 11 bits of precision, largest 65504, subnormal below 2^-14
#pragma once

#include <cstdint>
#include <string>

namespace cosmic {

enum class NumberFormat { f32, bf16, f16 };

std::string to_string(NumberFormat format);

std::int64_t bytes_of(NumberFormat format);

/// What happens to a number between two that the format has.
enum class Rounding {
  nearest,     ///< the closer one; of two equally close ones, the even one
  stochastic,  ///< one of both, the closer one more often: right on average
};

std::string to_string(Rounding rounding);

/// The 16 bits of `value` in a narrow format, rounded to nearest. What is not a number stays none,
/// what is too large becomes infinite.
std::uint16_t narrow(float value, NumberFormat format);
/// The same, rounded stochastically: `noise` is uniform among all 32-bit numbers.
std::uint16_t narrow(float value, NumberFormat format, std::uint32_t noise);
/// The number that these 16 bits stand for; exact.
float widen(std::uint16_t bits, NumberFormat format);

/// The number as it comes back from being written. f32 changes nothing.
float rounded(float value, NumberFormat format);

/// The tf32 number that a product unit of that kind makes of a float32 factor: float32's range with
/// 11 bits of precision, to nearest, away from zero where two are equally close (as the GPU's own
/// conversion, cvt.rna). No value is stored so.
float rounded_to_tf32(float value);

}  // namespace cosmic
