#include "target/cpu/kernels/lane_blocks.hpp"

#include <cstring>

#include "target/cpu/kernels/conv_kernels.hpp"

namespace cosmic::target::cpu {
namespace {

// Four numbers, which the least of the processors that this program runs on has room for, so that
// there is no choice to make when it runs. Both compilers know this type.
using Four [[gnu::vector_size(16)]] = float;
constexpr std::int64_t kSide = 4;

Four load(const float* from) {
  Four four;
  std::memcpy(&four, from, sizeof four);
  return four;
}

void store(const Four& four, float* to) {
  std::memcpy(to, &four, sizeof four);
}

/// x0 y0 x1 y1
Four low_halves(const Four& x, const Four& y) {
  return __builtin_shufflevector(x, y, 0, 4, 1, 5);
}

/// x2 y2 x3 y3
Four high_halves(const Four& x, const Four& y) {
  return __builtin_shufflevector(x, y, 2, 6, 3, 7);
}

/// to[i][k] = from[k][i]
void transpose_square(float* to, std::int64_t to_stride, const float* from,
                      std::int64_t from_stride) {
  const Four a = load(from);
  const Four b = load(from + from_stride);
  const Four c = load(from + 2 * from_stride);
  const Four d = load(from + 3 * from_stride);
  const Four ac = low_halves(a, c);
  const Four bd = low_halves(b, d);
  store(low_halves(ac, bd), to);
  store(high_halves(ac, bd), to + to_stride);
  const Four later_ac = high_halves(a, c);
  const Four later_bd = high_halves(b, d);
  store(low_halves(later_ac, later_bd), to + 2 * to_stride);
  store(high_halves(later_ac, later_bd), to + 3 * to_stride);
}

}  // namespace

void join_lanes(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                std::int64_t count) {
  std::int64_t k = 0;
  for (; k + kSide <= count; k += kSide) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kSide) {
      transpose_square(to + k * to_stride + lane, to_stride, from + lane * from_stride + k,
                       from_stride);
    }
  }
  for (; k < count; ++k) {
    for (std::int64_t lane = 0; lane < kBlock; ++lane) {
      to[k * to_stride + lane] = from[lane * from_stride + k];
    }
  }
}

void part_lanes(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                std::int64_t count) {
  std::int64_t k = 0;
  for (; k + kSide <= count; k += kSide) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kSide) {
      transpose_square(to + lane * to_stride + k, to_stride, from + k * from_stride + lane,
                       from_stride);
    }
  }
  for (; k < count; ++k) {
    for (std::int64_t lane = 0; lane < kBlock; ++lane) {
      to[lane * to_stride + k] = from[k * from_stride + lane];
    }
  }
}

}  // namespace cosmic::target::cpu
