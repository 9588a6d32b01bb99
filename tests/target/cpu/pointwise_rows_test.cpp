// Pointwise kernels, reductions and layout changes against plain loops in double, on every
// instruction set this machine has.
#include "target/cpu/kernel_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace cosmic::target::cpu {
namespace {

double leaky_of(double x, double slope) {
  return x > 0 ? x : slope * x;
}
double leaky_slope(double x, double slope) {
  return x > 0 ? 1.0 : slope;
}

constexpr float kSlope = 0.125f;

class Pointwise : public testing::Test {
 protected:
  const Row scale = grid_row(kBlock, 101);
  const Row shift = grid_row(kBlock, 102);
  const Row p = grid_row(kBlock, 103);
  const Row q = grid_row(kBlock, 104);
  const Row r = grid_row(kBlock, 105);
  double affine(double x, std::int64_t c) const { return x * scale[c] + shift[c]; }
};

TEST_F(Pointwise, affine_leaky_agrees_with_scalar_loop_for_any_pixel_count) {
  for (const float slope : {0.0f, kSlope, 1.0f, 2.0f}) {
    expect_map(
        1,
        [&](float* out, const auto& in, std::int64_t pixels) {
          affine_leaky(out, in[0], scale.data(), shift.data(), slope, pixels);
        },
        [&](const auto& v, std::int64_t c) { return leaky_of(affine(v[0], c), slope); });
  }
}

TEST_F(Pointwise, leaky_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      1, [](float* out, const auto& in, std::int64_t pixels) { leaky(out, in[0], kSlope, pixels); },
      [](const auto& v, std::int64_t) { return leaky_of(v[0], kSlope); });
}

TEST_F(Pointwise, add_leaky_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [](float* out, const auto& in, std::int64_t pixels) {
        add_leaky(out, in[0], in[1], kSlope, pixels);
      },
      [](const auto& v, std::int64_t) { return leaky_of(v[0] + v[1], kSlope); });
}

TEST_F(Pointwise, affine_leaky_add_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [&](float* out, const auto& in, std::int64_t pixels) {
        affine_leaky_add(out, in[0], scale.data(), shift.data(), kSlope, in[1], pixels);
      },
      [&](const auto& v, std::int64_t c) { return leaky_of(affine(v[0], c), kSlope) + v[1]; });
}

TEST_F(Pointwise, affine_add_leaky_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [&](float* out, const auto& in, std::int64_t pixels) {
        affine_add_leaky(out, in[0], scale.data(), shift.data(), in[1], kSlope, pixels);
      },
      [&](const auto& v, std::int64_t c) { return leaky_of(affine(v[0], c) + v[1], kSlope); });
}

TEST_F(Pointwise, leaky_gradient_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [](float* out, const auto& in, std::int64_t pixels) {
        leaky_gradient(out, in[0], in[1], kSlope, pixels);
      },
      [](const auto& v, std::int64_t) { return leaky_slope(v[0], kSlope) * v[1]; });
}

TEST_F(Pointwise, affine_leaky_gradient_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [&](float* out, const auto& in, std::int64_t pixels) {
        affine_leaky_gradient(out, in[0], scale.data(), shift.data(), kSlope, in[1], pixels);
      },
      [&](const auto& v, std::int64_t c) { return leaky_slope(affine(v[0], c), kSlope) * v[1]; });
}

TEST_F(Pointwise, combine_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [&](float* out, const auto& in, std::int64_t pixels) {
        combine(out, in[0], in[1], p.data(), q.data(), r.data(), pixels);
      },
      [&](const auto& v, std::int64_t c) { return v[0] * p[c] + v[1] * q[c] + r[c]; });
}

TEST_F(Pointwise, affine_leaky_gradient_combine_agrees_with_scalar_loop_for_any_pixel_count) {
  expect_map(
      2,
      [&](float* out, const auto& in, std::int64_t pixels) {
        affine_leaky_gradient_combine(out, in[0], scale.data(), shift.data(), kSlope, in[1],
                                      p.data(), q.data(), r.data(), pixels);
      },
      [&](const auto& v, std::int64_t c) {
        return leaky_slope(affine(v[0], c), kSlope) * v[1] * p[c] + v[0] * q[c] + r[c];
      });
}

using Sums = std::array<double, kBlock>;

TEST(Reductions, add_to_what_is_there_for_any_pixel_count) {
  const Row pivot = grid_row(kBlock, 7);
  on_every_target([&] {
    for (const std::int64_t pixels : kPixelCounts) {
      const Row x = grid_row(kBlock * pixels, 1);
      const Row dy = grid_row(kBlock * pixels, 2);
      Sums moment{}, square{}, dy_sum{}, product{}, x_sum{};
      for (Sums* sums : {&moment, &square, &dy_sum, &product, &x_sum}) {
        sums->fill(1000.0);
      }
      Sums want_moment = moment, want_square = square, want_dy = dy_sum, want_product = product,
           want_x = x_sum;
      for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
        const auto c = std::size_t(i % kBlock);
        const double off = double{x[i]} - pivot[i % kBlock];
        want_moment[c] += off;
        want_square[c] += off * off;
        want_dy[c] += dy[i];
        want_product[c] += double{dy[i]} * x[i];
        want_x[c] += x[i];
      }
      add_moments(x.data(), pivot.data(), pixels, moment.data(), square.data());
      add_products(x.data(), dy.data(), pixels, dy_sum.data(), product.data());
      add_sums(x.data(), pixels, x_sum.data());
      // On the grid every partial sum is exact.
      EXPECT_EQ(moment, want_moment);
      EXPECT_EQ(square, want_square);
      EXPECT_EQ(dy_sum, want_dy);
      EXPECT_EQ(product, want_product);
      EXPECT_EQ(x_sum, want_x);
    }
  });
}

TEST(Reductions, variance_of_many_pixels_is_right_to_one_part_per_million) {
  constexpr std::int64_t kPixels = 200'003;
  constexpr double kMean = 3.0;
  const Row x = normal_row(kBlock * kPixels, 5, float(kMean));
  const Row pivot(kBlock, float(kMean));
  Sums want_sum{}, want_square{};
  for (std::int64_t i = 0; i < kBlock * kPixels; ++i) {
    const double off = double{x[i]} - kMean;
    want_sum[std::size_t(i % kBlock)] += off;
    want_square[std::size_t(i % kBlock)] += off * off;
  }
  const auto variance = [](double sum, double square) {
    return square / kPixels - sum / kPixels * (sum / kPixels);
  };
  on_every_target([&] {
    Sums sum{}, square{};
    add_moments(x.data(), pivot.data(), kPixels, sum.data(), square.data());
    for (std::size_t c = 0; c < kBlock; ++c) {
      const double want = variance(want_sum[c], want_square[c]);
      EXPECT_NEAR(variance(sum[c], square[c]), want, 1e-6 * want);
      EXPECT_NEAR(sum[c] / kPixels, want_sum[c] / kPixels, 1e-6);
    }
  });
}

TEST(Layout, blocking_fills_with_zeros_and_unblocking_undoes_it) {
  on_every_target([] {
    for (std::int64_t channels = 1; channels <= 8; ++channels) {
      for (const std::int64_t pixels : kPixelCounts) {
        const std::int64_t stride = pixels + 3;
        const Row plain = normal_row(channels * stride, 1);
        Row blocked(kBlock * pixels, 99.0f);
        block_row(blocked.data(), plain.data(), stride, channels, pixels);
        for (std::int64_t i = 0; i < blocked.count(); ++i) {
          const std::int64_t c = i % kBlock;
          ASSERT_EQ(blocked[i], c < channels ? plain[c * stride + i / kBlock] : 0.0f);
        }
        Row back(channels * stride, 99.0f);
        unblock_row(back.data(), stride, blocked.data(), channels, pixels);
        for (std::int64_t i = 0; i < back.count(); ++i) {
          ASSERT_EQ(back[i], i % stride < pixels ? plain[i] : 99.0f);
        }
      }
    }
  });
}

}  // namespace
}  // namespace cosmic::target::cpu
