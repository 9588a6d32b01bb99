// What the tests of row kernels share: rows that notice a write beside them, values whose sums are
// exact, and a run on every instruction set this machine has.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {

// Around every unrolling and vector width, and beyond every run of float partial sums.
inline constexpr std::int64_t kPixelCounts[] = {0, 1,  2,  3,  4,  5,   7,   8,
                                                9, 15, 16, 17, 33, 127, 131, 300};

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
Row grid_row(std::int64_t count, unsigned seed);
Row normal_row(std::int64_t count, unsigned seed, float mean = 0.0f, float width = 1.0f);

/// Runs body on what each instruction set's machines would run; HWY_SCALAR stands for the baseline.
void on_every_target(const std::function<void()>& body);

void expect_close(double got, double want, double tolerance = 1e-6);

/// run(out, sources, pixels) must compute want(values of the sources, channel) everywhere, also
/// where out is one of the sources.
void expect_map(
    std::size_t sources,
    const std::function<void(float*, const std::vector<const float*>&, std::int64_t)>& run,
    const std::function<double(const std::vector<double>&, std::int64_t)>& want);

}  // namespace cosmic::target::cpu
