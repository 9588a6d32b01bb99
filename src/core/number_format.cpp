#include "core/number_format.hpp"

#include <bit>
#include <cmath>

#include "core/error.hpp"

namespace cosmic {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7f800000U;  // of float32, without the sign
constexpr std::uint32_t kQuiet = 0x00400000U;     // the bit that makes a NaN quiet

// bf16 drops the lower 16 bits, f16 the lower 13 and 3 of the exponent.
constexpr int kDroppedOfBf16 = 16;
constexpr int kDroppedOfF16 = 13;
constexpr int kDroppedOfTf32 = 13;
constexpr std::uint32_t kF16Infinity = 0x7c00U;
constexpr std::uint32_t kF16Nan = 0x7e00U;
constexpr std::uint32_t kExponentShift = 112U << 23;      // from f16's bias to float32's
constexpr std::uint32_t kLeastNormalF16 = 113U << 23;     // 2^-14
constexpr std::uint32_t kBeyondF16 = (127U + 16U) << 23;  // 2^16
constexpr float kSubnormalStep = 0x1p-24F;                // between subnormal f16 numbers
constexpr float kStepsPerUnit = 1 / kSubnormalStep;

/// What is added below the last bit that is kept, so that dropping the rest rounds to nearest even.
std::uint32_t half_to_even(std::uint32_t bits, int dropped) {
  return (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1U);
}

std::uint16_t bf16(std::uint32_t bits, std::uint32_t added) {
  if ((bits & ~kSign) > kInfinity) {
    return static_cast<std::uint16_t>((bits | kQuiet) >> kDroppedOfBf16);
  }
  // The lower bits of an infinity are zero: what is added is dropped again.
  return static_cast<std::uint16_t>((bits + added) >> kDroppedOfBf16);
}

/// `steps` is a subnormal number's magnitude in steps, already rounded.
std::uint16_t f16(std::uint32_t bits, std::uint32_t added, float steps) {
  const std::uint32_t magnitude = bits & ~kSign;
  const std::uint32_t sign = (bits & kSign) >> 16;
  std::uint32_t result = 0;
  if (magnitude > kInfinity) {
    result = kF16Nan;
  } else if (magnitude >= kBeyondF16) {
    result = kF16Infinity;
  } else if (magnitude < kLeastNormalF16) {
    result = static_cast<std::uint32_t>(steps);
  } else {
    // From 65520 on this carries into the exponent of infinity, as it should.
    result = (magnitude - kExponentShift + added) >> kDroppedOfF16;
  }
  return static_cast<std::uint16_t>(sign | result);
}

}  // namespace

std::string to_string(NumberFormat format) {
  switch (format) {
    case NumberFormat::f32:
      return "f32";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::f16:
      return "f16";
  }
  throw InternalError("unknown number format");
}

std::int64_t bytes_of(NumberFormat format) {
  return format == NumberFormat::f32 ? 4 : 2;
}

std::string to_string(Rounding rounding) {
  return rounding == Rounding::nearest ? "nearest" : "stochastic";
}

std::uint16_t narrow(float value, NumberFormat format) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (format == NumberFormat::bf16) {
    return bf16(bits, half_to_even(bits, kDroppedOfBf16));
  }
  COSMIC_ASSERT(format == NumberFormat::f16);
  // For magnitudes below 2^-14, adding half a unit leaves just the bits that are kept.
  const float steps = ((std::abs(value) + 0.5F) - 0.5F) * kStepsPerUnit;
  return f16(bits, half_to_even(bits, kDroppedOfF16), steps);
}

std::uint16_t narrow(float value, NumberFormat format, std::uint32_t noise) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (format == NumberFormat::bf16) {
    return bf16(bits, noise >> (32 - kDroppedOfBf16));
  }
  COSMIC_ASSERT(format == NumberFormat::f16);
  const std::uint32_t added = noise >> (32 - kDroppedOfF16);
  const float share = static_cast<float>(added) * 0x1p-13F;
  const float steps = std::floor(std::abs(value) * kStepsPerUnit + share);
  return f16(bits, added, steps);
}

float widen(std::uint16_t bits, NumberFormat format) {
  if (format == NumberFormat::bf16) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << kDroppedOfBf16);
  }
  COSMIC_ASSERT(format == NumberFormat::f16);
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  std::uint32_t result = 0;
  if (magnitude < 0x0400U) {
    result = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * kSubnormalStep);
  } else {
    result = (magnitude << kDroppedOfF16) + kExponentShift;
    if (magnitude >= kF16Infinity) {
      result += kExponentShift;  // to the exponent of float32's infinity
    }
  }
  return std::bit_cast<float>(sign | result);
}

float rounded(float value, NumberFormat format) {
  return format == NumberFormat::f32 ? value : widen(narrow(value, format), format);
}

float rounded_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & ~kSign) >= kInfinity) {
    return value;
  }
  // From the largest number on this carries into the exponent of infinity, as it should.
  constexpr std::uint32_t kDropped = (1U << kDroppedOfTf32) - 1;
  return std::bit_cast<float>((bits + (1U << (kDroppedOfTf32 - 1))) & ~kDropped);
}

}  // namespace cosmic
