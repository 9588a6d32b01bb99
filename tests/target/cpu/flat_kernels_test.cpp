// Kernels on flat arrays against plain loops in double, on every instruction set this machine has.
#include "target/cpu/kernel_rows.hpp"
#include "target/cpu/kernels/row_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace cosmic::target::cpu {
namespace {

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

TEST(FlatArrays, scale_floats_agrees_with_scalar_loop) {
  expect_flat_map(
      1,
      [](float* out, const auto& in, std::int64_t count) {
        scale_floats(out, in[0], -0.3f, count);
      },
      [](const auto& v) { return double{-0.3f} * v[0]; });
}

TEST(FlatArrays, gate_floats_agrees_with_scalar_loop) {
  expect_flat_map(
      2,
      [](float* out, const auto& in, std::int64_t count) {
        gate_floats(out, in[0], in[1], 0.1f, count);
      },
      [](const auto& v) { return v[0] > 0 ? v[1] : double{0.1f} * v[1]; });
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
