#include "core/number_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "core/rounding_noise.hpp"

namespace cosmic {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr NumberFormat kNarrow[] = {NumberFormat::bf16, NumberFormat::f16};

bool is_nan(std::uint16_t bits, NumberFormat format) {
  return std::isnan(widen(bits, format));
}

/// The value of 16 bits by the formula of the standard: sign, exponent, fraction.
double meaning(std::uint16_t bits, NumberFormat format) {
  const int fraction_bits = format == NumberFormat::bf16 ? 7 : 10;
  const int bias = format == NumberFormat::bf16 ? 127 : 15;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (0x7fff >> fraction_bits)) {
    return fraction == 0 ? sign * kInfinity : kNan;
  }
  const double ones = exponent == 0 ? 0 : 1;
  return sign *
         std::ldexp(ones + std::ldexp(fraction, -fraction_bits), std::max(exponent, 1) - bias);
}

TEST(NumberFormat, every_narrow_number_means_what_the_standard_says) {
  for (const NumberFormat format : kNarrow) {
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
      const auto narrow_bits = static_cast<std::uint16_t>(bits);
      const double expected = meaning(narrow_bits, format);
      if (std::isnan(expected)) {
        ASSERT_TRUE(is_nan(narrow_bits, format)) << to_string(format) << ' ' << bits;
      } else {
        ASSERT_EQ(widen(narrow_bits, format), expected) << to_string(format) << ' ' << bits;
        ASSERT_EQ(std::signbit(widen(narrow_bits, format)), std::signbit(expected));
      }
    }
  }
}

TEST(NumberFormat, what_a_format_has_comes_back_unchanged_however_it_is_rounded) {
  for (const NumberFormat format : kNarrow) {
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
      const auto expected = static_cast<std::uint16_t>(bits);
      if (is_nan(expected, format)) {
        continue;
      }
      ASSERT_EQ(narrow(widen(expected, format), format), expected);
      ASSERT_EQ(narrow(widen(expected, format), format, 0), expected);
      ASSERT_EQ(narrow(widen(expected, format), format, 0xffffffffU), expected);
    }
  }
}

/// Around every number of the format: a little less, a little more and exactly half-way to the
/// next.
TEST(NumberFormat, the_nearest_number_is_chosen_and_the_even_one_of_two) {
  for (const NumberFormat format : kNarrow) {
    const std::uint16_t infinity = narrow(kInfinity, format);
    for (std::uint16_t bits = 0; bits + 1 < infinity; ++bits) {
      const auto next = static_cast<std::uint16_t>(bits + 1);
      const double low = widen(bits, format);
      const double high = widen(next, format);
      const auto middle = static_cast<float>((low + high) / 2);  // both formats leave room for it
      ASSERT_EQ(middle, (low + high) / 2);
      for (const float sign : {1.0F, -1.0F}) {
        const auto sign_bit = static_cast<std::uint16_t>(sign < 0 ? 0x8000 : 0);
        const auto rounds_to = [&](float value) {
          return static_cast<std::uint16_t>(narrow(sign * value, format) ^ sign_bit);
        };
        ASSERT_EQ(rounds_to(middle), bits % 2 == 0 ? bits : next) << middle;
        ASSERT_EQ(rounds_to(std::nextafter(middle, 0.0F)), bits) << middle;
        ASSERT_EQ(rounds_to(std::nextafter(middle, kInfinity)), next) << middle;
      }
    }
  }
}

TEST(NumberFormat, what_is_too_large_becomes_infinite) {
  EXPECT_EQ(rounded(65519.996F, NumberFormat::f16), 65504.0F);
  EXPECT_EQ(rounded(65520.0F, NumberFormat::f16), kInfinity);
  EXPECT_EQ(rounded(-1e30F, NumberFormat::f16), -kInfinity);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max(), NumberFormat::bf16), kInfinity);
  EXPECT_EQ(rounded(std::numeric_limits<float>::lowest(), NumberFormat::bf16), -kInfinity);
}

TEST(NumberFormat, what_is_not_a_number_stays_none) {
  // The payload of the second lies in the bits that are dropped.
  for (const std::uint32_t nan : {0x7fc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU}) {
    for (const NumberFormat format : kNarrow) {
      EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(nan), format)));
      EXPECT_TRUE(is_nan(narrow(std::bit_cast<float>(nan), format, 0xffffffffU), format));
    }
  }
}

TEST(NumberFormat, infinity_stays_infinity_however_it_is_rounded) {
  for (const NumberFormat format : kNarrow) {
    EXPECT_EQ(widen(narrow(kInfinity, format, 0xffffffffU), format), kInfinity);
    EXPECT_EQ(widen(narrow(-kInfinity, format, 0xffffffffU), format), -kInfinity);
  }
}

TEST(NumberFormat, float32_is_left_as_it_is) {
  EXPECT_EQ(rounded(0.1F, NumberFormat::f32), 0.1F);
  EXPECT_EQ(bytes_of(NumberFormat::f32), 4);
  EXPECT_EQ(bytes_of(NumberFormat::bf16), 2);
}

TEST(Tf32, has_float16s_precision_and_float32s_range) {
  for (const float value : {1.0F, -1.5F, 0x1p-126F, 0x1p127F, 1.0F + 0x1p-10F, 0.0F}) {
    EXPECT_EQ(rounded_to_tf32(value), value);
  }
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1p-12F), 1.0F);
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1.8p-11F), 1.0F + 0x1p-10F);
  EXPECT_EQ(rounded_to_tf32(0x1.000ep100F), 0x1p100F);
  EXPECT_EQ(rounded_to_tf32(0.1F), rounded(0.1F, NumberFormat::f16));
}

TEST(Tf32, rounds_what_lies_in_the_middle_away_from_zero) {
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1p-11F), 1.0F + 0x1p-10F);
  EXPECT_EQ(rounded_to_tf32(-1.0F - 0x1p-11F), -1.0F - 0x1p-10F);
  EXPECT_EQ(rounded_to_tf32(1.0F + 0x1.8p-10F), 1.0F + 0x1p-9F);
}

TEST(Tf32, leaves_what_is_not_finite_and_makes_infinity_of_what_is_too_large) {
  EXPECT_TRUE(std::isnan(rounded_to_tf32(std::bit_cast<float>(0x7f800001U))));
  EXPECT_EQ(rounded_to_tf32(-kInfinity), -kInfinity);
  EXPECT_EQ(rounded_to_tf32(std::bit_cast<float>(0x7f7fffffU)), kInfinity);
}

/// Of many roundings of one number, the mean is that number and each is one of its neighbours.
TEST(StochasticRounding, is_right_on_average) {
  constexpr std::uint32_t kDraws = 100'000;
  // Normal numbers, and for f16 subnormal ones.
  for (const float value : {1.003F, -0.3F, 700.1F, 3.1e-5F, -1.03e-6F}) {
    for (const NumberFormat format : kNarrow) {
      const std::uint32_t row = noise_of_row(noise_of_run(1, 2), 3, 4);
      const float nearest = rounded(value, format);
      double sum = 0;
      double step = 0;
      for (std::uint32_t i = 0; i < kDraws; ++i) {
        const float drawn = widen(narrow(value, format, noise_of_element(row, i)), format);
        step = std::max(step, std::abs(static_cast<double>(drawn) - nearest));
        sum += drawn;
      }
      EXPECT_GT(step, 0) << value << " is never rounded the other way";
      // A draw is off by at most a step: four standard deviations of the mean at the very most.
      EXPECT_NEAR(sum / kDraws, value, 2 * step / std::sqrt(kDraws)) << to_string(format);
      EXPECT_LT(std::abs(nearest - value), step);
    }
  }
}

TEST(RoundingNoise, differs_between_seeds_runs_values_rows_and_elements) {
  const std::uint32_t row = noise_of_row(noise_of_run(1, 2), 3, 4);
  EXPECT_EQ(row, noise_of_row(noise_of_run(1, 2), 3, 4));
  EXPECT_NE(row, noise_of_row(noise_of_run(2, 2), 3, 4));
  EXPECT_NE(row, noise_of_row(noise_of_run(1, 3), 3, 4));
  EXPECT_NE(row, noise_of_row(noise_of_run(1, 2), 4, 4));
  EXPECT_NE(row, noise_of_row(noise_of_run(1, 2), 3, 5));
  EXPECT_NE(noise_of_element(row, 0), noise_of_element(row, 1));
}

/// Neighbours, and the same element of neighbouring rows, should have nothing to do with each
/// other.
TEST(RoundingNoise, is_uniform_and_uncorrelated_between_neighbours) {
  constexpr std::uint32_t kDraws = 100'000;
  const auto uniform = [](std::uint64_t row, std::uint32_t i) {
    return noise_of_element(noise_of_row(noise_of_run(0, 0), 0, row), i) * 0x1p-32 - 0.5;
  };
  double sum = 0;
  double with_next = 0;
  double with_next_row = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    sum += uniform(0, i);
    with_next += uniform(0, i) * uniform(0, i + 1);
    with_next_row += uniform(0, i) * uniform(1, i);
  }
  const double deviation = 1 / std::sqrt(12.0);  // of a uniform number
  const double limit = 4 * deviation * std::sqrt(kDraws);
  EXPECT_LT(std::abs(sum), limit);
  EXPECT_LT(std::abs(with_next), limit * deviation);
  EXPECT_LT(std::abs(with_next_row), limit * deviation);
}

}  // namespace
}  // namespace cosmic
