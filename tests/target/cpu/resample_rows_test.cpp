// Pooling and upsampling against plain loops in double, on every instruction set this machine has.
#include "target/cpu/kernel_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace cosmic::target::cpu {
namespace {

struct WindowExtents {
  std::int64_t rows;
  std::int64_t columns;
};
constexpr WindowExtents kWindows[] = {{2, 2}, {1, 1}, {3, 2}, {1, 4}, {3, 3}};

/// Rows of a few distinct values, so that nearly every window holds ties.
std::vector<Row> tied_rows(WindowExtents window, std::int64_t pixels) {
  std::vector<Row> rows;
  for (std::int64_t r = 0; r < window.rows; ++r) {
    rows.push_back(grid_row(kBlock * window.columns * pixels, unsigned(r + 20)));
    for (std::int64_t i = 0; i < rows.back().count(); ++i) {
      rows.back()[i] = std::floor(rows.back()[i] / 2.0f);
    }
  }
  return rows;
}

TEST(MaxPool, takes_the_largest_and_its_gradient_goes_to_the_first_largest) {
  on_every_target([&] {
    for (const WindowExtents window : kWindows) {
      for (const std::int64_t pixels : kPixelCounts) {
        const std::vector<Row> in = tied_rows(window, pixels);
        const Row dy = normal_row(kBlock * pixels, 3);
        Row pooled(kBlock * pixels);
        std::vector<Row> gradient;
        std::vector<const float*> rows;
        std::vector<float*> gradient_rows;
        for (const Row& row : in) {
          rows.push_back(row.data());
          gradient.emplace_back(row.count(), 99.0f);
          gradient_rows.push_back(gradient.back().data());
        }
        max_pool_row(pooled.data(), rows.data(), window.rows, window.columns, pixels);
        max_pool_gradient_rows(gradient_rows.data(), rows.data(), dy.data(), window.rows,
                               window.columns, pixels);
        for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
          const std::int64_t corner = i / kBlock * window.columns * kBlock + i % kBlock;
          std::int64_t best_row = 0, best = corner;
          for (std::int64_t r = 0; r < window.rows; ++r) {
            for (std::int64_t at = corner; at < corner + kBlock * window.columns; at += kBlock) {
              if (rows[std::size_t(r)][at] > rows[std::size_t(best_row)][best]) {
                best_row = r;
                best = at;
              }
            }
          }
          ASSERT_EQ(pooled[i], rows[std::size_t(best_row)][best]);
          for (std::int64_t r = 0; r < window.rows; ++r) {
            for (std::int64_t at = corner; at < corner + kBlock * window.columns; at += kBlock) {
              const bool first_largest = r == best_row && at == best;
              ASSERT_EQ(gradient[std::size_t(r)][at], first_largest ? dy[i] : 0.0f);
            }
          }
        }
      }
    }
  });
}

constexpr std::int64_t kWidths[] = {1, 2, 3, 7, 16, 33};

TEST(UpsampleBilinear, doubles_a_ramp_as_pytorch_does) {
  on_every_target([] {
    Row ramp(4 * kBlock);
    for (std::int64_t i = 0; i < ramp.count(); ++i) {
      ramp[i] = float(i / kBlock);
    }
    Row out(8 * kBlock);
    upsample_bilinear_row(out.data(), ramp.data(), ramp.data(), 0.25f, 4, 0, 8);
    const double want[] = {0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3};
    for (std::int64_t i = 0; i < out.count(); ++i) {
      EXPECT_EQ(out[i], want[i / kBlock]);
    }
  });
}

TEST(UpsampleBilinear, any_part_of_a_row_agrees_with_scalar_loop) {
  constexpr float kFarWeight = 0.25f;
  on_every_target([&] {
    for (const std::int64_t width : kWidths) {
      const Row near = normal_row(kBlock * width, 1);
      const Row far = normal_row(kBlock * width, 2);
      const auto blended = [&](std::int64_t pixel, std::int64_t c) {
        const std::int64_t i = kBlock * std::clamp<std::int64_t>(pixel, 0, width - 1) + c;
        return near[i] * (1.0 - kFarWeight) + far[i] * double{kFarWeight};
      };
      for (std::int64_t first = 0; first < 2 * width; ++first) {
        for (std::int64_t pixels = 0; first + pixels <= 2 * width; ++pixels) {
          Row out(kBlock * pixels);
          upsample_bilinear_row(out.data(), near.data(), far.data(), kFarWeight, width, first,
                                pixels);
          for (std::int64_t i = 0; i < out.count(); ++i) {
            const std::int64_t at = first + i / kBlock;
            const std::int64_t neighbour = at % 2 == 0 ? at / 2 - 1 : at / 2 + 1;
            ASSERT_NEAR(out[i],
                        0.75 * blended(at / 2, i % kBlock) + 0.25 * blended(neighbour, i % kBlock),
                        1e-6);
          }
        }
      }
    }
  });
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    sum += double{a[i]} * b[i];
  }
  return sum;
}

TEST(UpsampleBilinear, gradient_is_the_adjoint) {
  constexpr float kWeight = 0.75f;
  on_every_target([&] {
    for (const std::int64_t width : kWidths) {
      // On the grid both sides are exact.
      const Row x = grid_row(kBlock * width, 1);
      const Row dy = grid_row(2 * kBlock * width, 2);
      Row up(2 * kBlock * width);
      upsample_bilinear_row(up.data(), x.data(), x.data(), 0.0f, width, 0, 2 * width);
      const Row before = grid_row(kBlock * width, 3);
      Row dx = before.copy();
      add_upsample_bilinear_gradient_row(dx.data(), dy.data(), kWeight, width);
      EXPECT_EQ(dot(dx, x) - dot(before, x), kWeight * dot(dy, up));
    }
  });
}

TEST(UpsampleNearest, any_part_of_a_row_repeats_its_source) {
  on_every_target([] {
    for (const std::int64_t factor : {1, 2, 3, 4}) {
      for (const std::int64_t width : kWidths) {
        const Row x = normal_row(kBlock * width, 1);
        for (std::int64_t first = 0; first < std::min<std::int64_t>(5, factor * width); ++first) {
          for (std::int64_t pixels = 0; first + pixels <= factor * width; ++pixels) {
            Row out(kBlock * pixels);
            upsample_nearest_row(out.data(), x.data(), factor, first, pixels);
            for (std::int64_t i = 0; i < out.count(); ++i) {
              ASSERT_EQ(out[i], x[kBlock * ((first + i / kBlock) / factor) + i % kBlock]);
            }
          }
        }
      }
    }
  });
}

TEST(UpsampleNearest, gradient_is_the_adjoint) {
  on_every_target([] {
    for (const std::int64_t factor : {1, 2, 3, 4}) {
      for (const std::int64_t width : kWidths) {
        const Row x = grid_row(kBlock * width, 1);
        const Row dy = grid_row(factor * kBlock * width, 2);
        Row up(factor * kBlock * width);
        upsample_nearest_row(up.data(), x.data(), factor, 0, factor * width);
        const Row before = grid_row(kBlock * width, 3);
        Row dx = before.copy();
        add_upsample_nearest_gradient_row(dx.data(), dy.data(), factor, width);
        EXPECT_EQ(dot(dx, x) - dot(before, x), dot(dy, up));
      }
    }
  });
}

}  // namespace
}  // namespace cosmic::target::cpu
