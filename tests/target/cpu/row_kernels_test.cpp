// Every row kernel against a plain loop in double, on every instruction set this machine has.
#include "target/cpu/kernels/row_kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace cosmic::target::cpu {
namespace {

constexpr std::int64_t kBlock = 8;
// Around every unrolling and vector width, and beyond every run of float partial sums.
constexpr std::int64_t kPixelCounts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 127, 131, 300};

/// Floats at a 32-byte (and no better) boundary; reports writes next to them when it dies.
class Row {
 public:
  explicit Row(std::int64_t count, float fill = 0.0f)
      : storage_(std::size_t(count + 3 * kGuard), kGuardValue), count_(count) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data() + kGuard);
    offset_ = kGuard + std::int64_t((96 - address % 64) % 64 / sizeof(float));
    std::fill_n(data(), count, fill);
  }
  Row(const Row&) = delete;
  Row(Row&&) = default;
  ~Row() {
    const auto begin = storage_.begin();
    const auto untouched = [](float v) { return v == kGuardValue; };
    if (!storage_.empty()) {
      EXPECT_TRUE(std::all_of(begin, begin + offset_, untouched)) << "write before a row";
      EXPECT_TRUE(std::all_of(begin + offset_ + count_, storage_.end(), untouched))
          << "write beyond a row";
    }
  }

  float* data() { return storage_.data() + offset_; }
  const float* data() const { return storage_.data() + offset_; }
  float& operator[](std::int64_t i) { return data()[i]; }
  float operator[](std::int64_t i) const { return data()[i]; }
  std::int64_t count() const { return count_; }
  Row copy() const {
    Row other(count_);
    std::copy_n(data(), count_, other.data());
    return other;
  }

 private:
  static constexpr std::int64_t kGuard = 16;
  static constexpr float kGuardValue = -12345.678f;
  std::vector<float> storage_;
  std::int64_t count_;
  std::int64_t offset_;
};

/// Multiples of 1/16: sums and products of a few are exact, so zeros and ties do occur and fall on
/// the same side in float and in double.
Row grid_row(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Row row(count);
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = float(int(generator() % 129) - 64) / 16.0f;
  }
  return row;
}

Row normal_row(std::int64_t count, unsigned seed, float mean = 0.0f, float width = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, width);
  Row row(count);
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = normal(generator);
  }
  return row;
}

/// Runs body on what each instruction set's machines would run; HWY_SCALAR stands for the baseline.
void on_every_target(const std::function<void()>& body) {
  const std::int64_t supported = hwy::SupportedTargets() | HWY_SCALAR;
  for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) {
      continue;
    }
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::GetChosenTarget().DeInit();
}

void expect_close(double got, double want, double tolerance = 1e-6) {
  EXPECT_NEAR(got, want, tolerance * (1.0 + std::abs(want)));
}

/// run(out, sources, pixels) must compute want(values of the sources, channel) everywhere, also
/// where out is one of the sources.
void expect_map(
    std::size_t sources,
    const std::function<void(float*, const std::vector<const float*>&, std::int64_t)>& run,
    const std::function<double(const std::vector<double>&, std::int64_t)>& want) {
  on_every_target([&] {
    for (const std::int64_t pixels : kPixelCounts) {
      for (std::size_t aliased = 0; aliased <= sources; ++aliased) {
        SCOPED_TRACE(testing::Message() << pixels << " pixels, destination " << aliased);
        std::vector<Row> in;
        std::vector<Row> original;
        std::vector<const float*> pointers;
        for (std::size_t s = 0; s < sources; ++s) {
          in.push_back(grid_row(kBlock * pixels, unsigned(s + 1)));
          original.push_back(in.back().copy());
          pointers.push_back(in.back().data());
        }
        Row separate(kBlock * pixels);
        float* const out = aliased < sources ? in[aliased].data() : separate.data();
        run(out, pointers, pixels);
        for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
          std::vector<double> values;
          for (const Row& row : original) {
            values.push_back(row[i]);
          }
          ASSERT_NO_FATAL_FAILURE(expect_close(out[i], want(values, i % kBlock)));
        }
      }
    }
  });
}

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

constexpr float kClassWeights[8] = {0.5f, 20.0f, 3.0f, 1.0f, 2.0f, 0.25f, 7.0f, 0.0f};

std::vector<std::uint8_t> some_labels(std::int64_t classes, std::int64_t pixels) {
  std::mt19937 generator(unsigned(classes * 1000 + pixels));
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(pixels));
  for (std::uint8_t& label : labels) {
    label = std::uint8_t(generator() % unsigned(classes));
  }
  return labels;
}

/// Logits from shy to certain and from nearly equal to tied. Channels that are no class hold what
/// must not matter.
Row some_logits(std::int64_t classes, std::int64_t pixels) {
  Row logits = grid_row(kBlock * pixels, unsigned(classes));
  constexpr float kSpread[] = {1.0f, 0.0f, 20.0f, 0.01f, 4.0f};
  for (std::int64_t i = 0; i < logits.count(); ++i) {
    logits[i] = i % kBlock < classes ? logits[i] * kSpread[i / kBlock % 5] : 1e4f;
  }
  return logits;
}

struct PixelLoss {
  std::vector<double> probability;
  double cross_entropy = 0;
  double weight = 0;
  std::int64_t predicted = 0;

  PixelLoss(const float* logits, std::int64_t label, std::int64_t classes, bool focal) {
    const double best = *std::max_element(logits, logits + classes);
    predicted = std::max_element(logits, logits + classes) - logits;
    double total = 0, others = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      probability.push_back(std::exp(logits[c] - best));
      total += probability.back();
      others += c == label ? 0.0 : probability.back();
    }
    for (double& p : probability) {
      p /= total;
    }
    cross_entropy = std::log(total) + best - logits[label];
    weight = kClassWeights[label];
    if (focal) {
      weight *= others / total * (others / total) / 3.0;
    }
  }
};

TEST(PixelSums, agree_with_scalar_loop_for_any_class_and_pixel_count) {
  on_every_target([] {
    for (std::int64_t classes = 1; classes <= 8; ++classes) {
      for (const std::int64_t pixels : kPixelCounts) {
        for (const bool focal : {false, true}) {
          SCOPED_TRACE(testing::Message() << classes << " classes, " << pixels << " pixels");
          const Row logits = some_logits(classes, pixels);
          const auto labels = some_labels(classes, pixels);
          PixelSums want;
          want.weighted_loss = want.foreground = want.either[1] = 1.0;
          PixelSums sums = want;
          for (std::int64_t i = 0; i < pixels; ++i) {
            const std::int64_t label = labels[std::size_t(i)];
            const PixelLoss loss(logits.data() + kBlock * i, label, classes, focal);
            const bool correct = loss.predicted == label;
            want.weighted_loss += loss.weight * loss.cross_entropy;
            want.weight += loss.weight;
            want.correct += correct;
            want.foreground += label != 0;
            want.foreground_correct += label != 0 && correct;
            for (std::int64_t k = 0; k < 2; ++k) {
              want.intersection[k] += label == k + 1 && loss.predicted == k + 1;
              want.either[k] += label == k + 1 || loss.predicted == k + 1;
            }
          }
          add_pixel_sums(logits.data(), labels.data(), classes, kClassWeights, focal, pixels, sums);
          expect_close(sums.weighted_loss, want.weighted_loss);
          expect_close(sums.weight, want.weight);
          EXPECT_EQ(sums.correct, want.correct);
          EXPECT_EQ(sums.foreground, want.foreground);
          EXPECT_EQ(sums.foreground_correct, want.foreground_correct);
          for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_EQ(sums.intersection[k], want.intersection[k]);
            EXPECT_EQ(sums.either[k], want.either[k]);
          }
        }
      }
    }
  });
}

TEST(PixelSums, focal_weight_and_gradient_of_a_certain_pixel_keep_their_relative_accuracy) {
  on_every_target([] {
    Row logits(kBlock);
    logits[1] = 20.0f;
    const std::uint8_t label = 1;
    PixelSums sums;
    add_pixel_sums(logits.data(), &label, 3, kClassWeights, true, 1, sums);
    const PixelLoss loss(logits.data(), label, 3, true);
    EXPECT_NEAR(sums.weight, loss.weight, 1e-5 * loss.weight);
    Row gradient(kBlock);
    cross_entropy_gradient_row(gradient.data(), logits.data(), &label, 3, kClassWeights, false,
                               1.0f, 1);
    const double want = -kClassWeights[1] * (loss.probability[0] + loss.probability[2]);
    EXPECT_NEAR(gradient[1], want, -1e-5 * want);
  });
}

TEST(CrossEntropyGradient, agrees_with_scalar_loop_and_may_overwrite_the_logits) {
  constexpr float kFactor = 0.5f;
  on_every_target([] {
    for (std::int64_t classes = 1; classes <= 8; ++classes) {
      for (const std::int64_t pixels : kPixelCounts) {
        for (const bool focal : {false, true}) {
          SCOPED_TRACE(testing::Message() << classes << " classes, " << pixels << " pixels");
          const Row logits = some_logits(classes, pixels);
          const auto labels = some_labels(classes, pixels);
          Row out(kBlock * pixels, 99.0f);
          cross_entropy_gradient_row(out.data(), logits.data(), labels.data(), classes,
                                     kClassWeights, focal, kFactor, pixels);
          Row in_place = logits.copy();
          cross_entropy_gradient_row(in_place.data(), in_place.data(), labels.data(), classes,
                                     kClassWeights, focal, kFactor, pixels);
          for (std::int64_t i = 0; i < kBlock * pixels; ++i) {
            const std::int64_t c = i % kBlock;
            const std::int64_t label = labels[std::size_t(i / kBlock)];
            const PixelLoss loss(logits.data() + i - c, label, classes, focal);
            const double want = c < classes ? kFactor * loss.weight *
                                                  (loss.probability[std::size_t(c)] - (c == label))
                                            : 0.0;
            ASSERT_NO_FATAL_FAILURE(expect_close(out[i], want));
            ASSERT_EQ(in_place[i], out[i]);
          }
        }
      }
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

/// Like expect_map, on flat arrays of positive numbers that start one float off alignment.
void expect_flat_map(
    std::size_t sources,
    const std::function<void(float*, const std::vector<const float*>&, std::int64_t)>& run,
    const std::function<double(const std::vector<double>&)>& want) {
  expect_map(
      sources,
      [&](float* out, std::vector<const float*> in, std::int64_t pixels) {
        const std::int64_t count = std::max<std::int64_t>(kBlock * pixels - 1, 0);
        if (count == 0) {
          return;
        }
        const auto alone = [&](std::int64_t i) {
          std::vector<double> values;
          for (const float* source : in) {
            values.push_back(source[i]);
          }
          return float(want(values));
        };
        out[0] = alone(0);
        std::for_each(in.begin(), in.end(), [](const float*& source) { ++source; });
        run(out + 1, in, count);
      },
      [&](const auto& v, std::int64_t) { return want(v); });
}

TEST(FlatArrays, scale_add_agrees_with_scalar_loop) {
  expect_flat_map(
      2,
      [](float* out, const auto& in, std::int64_t count) {
        scale_add(out, in[0], in[1], -0.3f, count);
      },
      [](const auto& v) { return v[0] + double{-0.3f} * v[1]; });
}

TEST(FlatArrays, update_moment_agrees_with_scalar_loop_for_both_powers) {
  for (const int power : {1, 2}) {
    expect_flat_map(
        2,
        [&](float* out, const auto& in, std::int64_t count) {
          update_moment(out, in[0], in[1], 0.9f, 0.1f, power, count);
        },
        [&](const auto& v) {
          return double{0.9f} * v[0] + double{0.1f} * (power == 1 ? v[1] : v[1] * v[1]);
        });
  }
}

TEST(FlatArrays, adam_step_agrees_with_scalar_loop) {
  expect_flat_map(
      3,
      [](float* out, const auto& in, std::int64_t count) {
        // Variances are not negative; the grid is.
        Row v(count);
        std::transform(in[2], in[2] + count, v.data(), [](float x) { return x * x; });
        adam_step(out, in[0], in[1], v.data(), 0.01f, 1.5f, 0.25f, 0.99f, count);
      },
      [](const auto& v) {
        return double{0.99f} * v[0] - double{0.01f} * v[1] / (std::abs(v[2]) * 1.5 + 0.25);
      });
}

TEST(FlatArrays, rmsprop_step_agrees_with_scalar_loop) {
  expect_flat_map(
      3,
      [](float* out, const auto& in, std::int64_t count) {
        Row v(count);
        std::transform(in[2], in[2] + count, v.data(), [](float x) { return x * x; });
        rmsprop_step(out, in[0], in[1], v.data(), 0.01f, 0.25f, 0.99f, count);
      },
      [](const auto& v) {
        return double{0.99f} * v[0] - double{0.01f} * v[1] / (std::abs(v[2]) + 0.25);
      });
}

}  // namespace
}  // namespace cosmic::target::cpu
