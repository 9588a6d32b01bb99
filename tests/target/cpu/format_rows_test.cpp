// Vectors must give the bits of the scalar definition, on every instruction set.
#include "target/cpu/kernels/format_rows.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "core/rounding_noise.hpp"
#include "target/cpu/kernel_rows.hpp"

namespace cosmic::target::cpu {
namespace {

constexpr NumberFormat kNarrow[] = {NumberFormat::bf16, NumberFormat::f16};

/// Every kind of number: all exponents and signs, ties in both formats, infinities, NaNs.
std::vector<float> all_kinds() {
  std::vector<float> values;
  RandomStream random(5, "all kinds");
  for (std::uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent) {
    const std::uint32_t high = sign_and_exponent << 23;
    const auto fraction = static_cast<std::uint32_t>(random.next() >> 41);
    for (const std::uint32_t low : {0U, 1U, 0x7fffffU, 0x8000U, 0x7fffU, 0x8001U, 0x18000U, 0x1000U,
                                    0x0fffU, 0x3000U, 0x400000U, fraction}) {
      values.push_back(std::bit_cast<float>(high | low));
    }
  }
  return values;
}

TEST(FormatRows, narrow_as_the_scalar_definition_does) {
  const std::vector<float> values = all_kinds();
  const auto count = static_cast<std::int64_t>(values.size());
  const RowNoise noise{noise_of_row(1, 2, 3), 77};
  on_every_target([&] {
    for (const NumberFormat format : kNarrow) {
      std::vector<std::uint16_t> nearest(values.size());
      std::vector<std::uint16_t> stochastic(values.size());
      narrow_row(nearest.data(), values.data(), format, count);
      narrow_row(stochastic.data(), values.data(), format, noise, count);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(nearest[i], narrow(values[i], format)) << to_string(format) << ' ' << values[i];
        const auto element = static_cast<std::uint32_t>(noise.first + i);
        ASSERT_EQ(stochastic[i], narrow(values[i], format, noise_of_element(noise.row, element)))
            << to_string(format) << ' ' << values[i];
      }
    }
  });
}

TEST(FormatRows, add_and_round_as_the_scalar_definition_does) {
  const std::vector<float> x = all_kinds();
  const auto count = static_cast<std::int64_t>(x.size());
  const RowNoise noise{noise_of_row(1, 2, 3), 77};
  on_every_target([&] {
    for (const NumberFormat format : kNarrow) {
      std::vector<float> nearest(x.rbegin(), x.rend());
      std::vector<float> stochastic = nearest;
      add_row_rounded(nearest.data(), x.data(), format, count);
      add_row_rounded(stochastic.data(), x.data(), format, noise, count);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float sum = x[x.size() - 1 - i] + x[i];
        const auto element = static_cast<std::uint32_t>(noise.first + i);
        if (std::isnan(sum)) {  // which of two NaNs a sum is, is up to the instruction
          ASSERT_TRUE(std::isnan(nearest[i]) && std::isnan(stochastic[i]));
          continue;
        }
        ASSERT_EQ(nearest[i], rounded(sum, format)) << to_string(format);
        ASSERT_EQ(stochastic[i],
                  widen(narrow(sum, format, noise_of_element(noise.row, element)), format))
            << to_string(format);
      }
    }
  });
}

TEST(FormatRows, widen_every_number) {
  std::vector<std::uint16_t> bits(0x10000);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<std::uint16_t>(i);
  }
  on_every_target([&] {
    for (const NumberFormat format : kNarrow) {
      std::vector<float> values(bits.size());
      widen_row(values.data(), bits.data(), format, static_cast<std::int64_t>(bits.size()));
      for (std::size_t i = 0; i < bits.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]),
                  std::bit_cast<std::uint32_t>(widen(bits[i], format)))
            << to_string(format) << ' ' << i;
      }
    }
  });
}

TEST(FormatRows, of_any_length_stay_within_the_row) {
  on_every_target([&] {
    for (const std::int64_t count : kPixelCounts) {
      const Row x = normal_row(count, 1);
      const RowNoise noise{1, 2};
      for (const NumberFormat format : kNarrow) {
        Row nearest(count);
        Row stochastic(count);
        round_row(nearest.data(), x.data(), format, count);
        round_row(stochastic.data(), x.data(), format, noise, count);
        for (std::int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(nearest[i], rounded(x[i], format));
          const auto element = static_cast<std::uint32_t>(2 + i);
          ASSERT_EQ(stochastic[i],
                    widen(narrow(x[i], format, noise_of_element(1, element)), format));
        }
      }
    }
  });
}

}  // namespace
}  // namespace cosmic::target::cpu
