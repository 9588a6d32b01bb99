#include "target/cpu/kernels/winograd_kernels.hpp"

#include <numbers>

// SSSE3 is left out to save compile time: such machines run the baseline. Scalable vectors cannot
// be members of arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/winograd_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what the other headers are compiled for.
#include "target/cpu/kernels/conv_vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

// The points p = 1/sqrt(2) and q = sqrt(2): p * q = 1, p^2 = 1/2 and q^2 = 2.
constexpr float kP = static_cast<float>(1 / std::numbers::sqrt2);
constexpr float kQ = static_cast<float>(std::numbers::sqrt2);
constexpr float kP3 = kP / 2;
constexpr float kQ3 = kQ * 2;

struct Six {
  Vector at[kWinogradWindow];
};
struct Four {
  Vector at[kWinogradTile];
};

HWY_INLINE Vector set(float value) {
  return hn::Set(kLanes, value);
}

/// B' of six values. Values at +p and -p share their even and their odd terms; so do +q and -q.
HWY_INLINE Six input_values(const Six& d) {
  const Vector* const x = d.at;
  const Vector even_p = hn::NegMulAdd(set(2), x[2], x[4]);
  const Vector odd_p = hn::NegMulAdd(set(2), x[1], x[3]);
  const Vector even_q = hn::NegMulAdd(set(0.5F), x[2], x[4]);
  const Vector odd_q = hn::NegMulAdd(set(0.5F), x[1], x[3]);
  return {{hn::NegMulAdd(set(2.5F), x[2], hn::Add(x[0], x[4])), hn::MulAdd(set(kP), odd_p, even_p),
           hn::NegMulAdd(set(kP), odd_p, even_p), hn::MulAdd(set(kQ), odd_q, even_q),
           hn::NegMulAdd(set(kQ), odd_q, even_q),
           hn::NegMulAdd(set(2.5F), x[3], hn::Add(x[1], x[5]))}};
}

/// A' of six values.
HWY_INLINE Four output_values(const Six& products) {
  const Vector* const m = products.at;
  const Vector sum_p = hn::Add(m[1], m[2]);
  const Vector difference_p = hn::Sub(m[1], m[2]);
  const Vector sum_q = hn::Add(m[3], m[4]);
  const Vector difference_q = hn::Sub(m[3], m[4]);
  return {{hn::Add(m[0], hn::Add(sum_p, sum_q)),
           hn::MulAdd(set(kP), difference_p, hn::Mul(set(kQ), difference_q)),
           hn::MulAdd(set(0.5F), sum_p, hn::Mul(set(2), sum_q)),
           hn::MulAdd(set(kP3), difference_p, hn::MulAdd(set(kQ3), difference_q, m[5]))}};
}

/// A of four values.
HWY_INLINE Six gradient_values(const Four& dy) {
  const Vector* const g = dy.at;
  const Vector even_p = hn::MulAdd(set(0.5F), g[2], g[0]);
  const Vector odd_p = hn::MulAdd(set(0.5F), g[3], g[1]);
  const Vector even_q = hn::MulAdd(set(2), g[2], g[0]);
  const Vector odd_q = hn::MulAdd(set(2), g[3], g[1]);
  return {{g[0], hn::MulAdd(set(kP), odd_p, even_p), hn::NegMulAdd(set(kP), odd_p, even_p),
           hn::MulAdd(set(kQ), odd_q, even_q), hn::NegMulAdd(set(kQ), odd_q, even_q), g[3]}};
}

HWY_INLINE Six input_column(const float* const* rows, std::int64_t at) {
  Six column;
  HWY_UNROLL(6)
  for (int i = 0; i < kWinogradWindow; ++i) {
    column.at[i] = rows[i] == nullptr ? hn::Zero(kLanes) : hn::LoadU(kLanes, rows[i] + at);
  }
  return input_values(column);
}

HWY_INLINE void store(const Six& values, float* to, std::int64_t position_stride) {
  HWY_UNROLL(6)
  for (int k = 0; k < kWinogradWindow; ++k) {
    hn::StoreU(values.at[k], kLanes, to + k * position_stride);
  }
}

void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kLaneCount) {
      const std::int64_t base = block * block_stride + lane;
      float* to = v + block * tiles * kBlock + lane;
      // Neighbouring tiles share two of their six columns.
      Six columns[kWinogradWindow];
      columns[0] = input_column(rows, base);
      columns[1] = input_column(rows, base + kBlock);
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        HWY_UNROLL(4)
        for (int k = 2; k < kWinogradWindow; ++k) {
          columns[k] = input_column(rows, base + (kWinogradTile * tile + k) * kBlock);
        }
        HWY_UNROLL(6)
        for (int i = 0; i < kWinogradWindow; ++i) {
          const Six row{{columns[0].at[i], columns[1].at[i], columns[2].at[i], columns[3].at[i],
                         columns[4].at[i], columns[5].at[i]}};
          store(input_values(row), to + i * kWinogradWindow * position_stride, position_stride);
        }
        to += kBlock;
        columns[0] = columns[4];
        columns[1] = columns[5];
      }
    }
  }
}

void winograd_gradient(float* z, std::int64_t position_stride, const float* const* rows,
                       std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kLaneCount) {
      const std::int64_t base = block * block_stride + lane;
      float* to = z + block * tiles * kBlock + lane;
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        Six columns[kWinogradTile];
        HWY_UNROLL(4)
        for (int k = 0; k < kWinogradTile; ++k) {
          const std::int64_t at = base + (kWinogradTile * tile + k) * kBlock;
          Four column;
          HWY_UNROLL(4)
          for (int i = 0; i < kWinogradTile; ++i) {
            column.at[i] = hn::LoadU(kLanes, rows[i] + at);
          }
          columns[k] = gradient_values(column);
        }
        HWY_UNROLL(6)
        for (int i = 0; i < kWinogradWindow; ++i) {
          const Four row{{columns[0].at[i], columns[1].at[i], columns[2].at[i], columns[3].at[i]}};
          store(gradient_values(row), to + i * kWinogradWindow * position_stride, position_stride);
        }
        to += kBlock;
      }
    }
  }
}

void winograd_output(const WinogradOutput& output) {
  for (std::int64_t block = 0; block < output.blocks; ++block) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kLaneCount) {
      const float* from = output.products + block * output.tiles * kBlock + lane;
      const Vector bias = hn::LoadU(kLanes, output.bias + block * kBlock + lane);
      const std::int64_t base = block * output.block_stride + lane;
      for (std::int64_t tile = 0; tile < output.tiles; ++tile) {
        Four columns[kWinogradWindow];
        HWY_UNROLL(6)
        for (int k = 0; k < kWinogradWindow; ++k) {
          Six column;
          HWY_UNROLL(6)
          for (int i = 0; i < kWinogradWindow; ++i) {
            column.at[i] =
                hn::LoadU(kLanes, from + (kWinogradWindow * i + k) * output.position_stride);
          }
          columns[k] = output_values(column);
        }
        const std::int64_t at = base + kWinogradTile * tile * kBlock;
        const unsigned zeros = output.zeros[tile];
        HWY_UNROLL(4)
        for (int i = 0; i < kWinogradTile; ++i) {
          const Six row{{columns[0].at[i], columns[1].at[i], columns[2].at[i], columns[3].at[i],
                         columns[4].at[i], columns[5].at[i]}};
          Four values = output_values(row);
          if (zeros != 0) {
            HWY_UNROLL(4)
            for (int k = 0; k < kWinogradTile; ++k) {
              if ((zeros >> (kWinogradTile * i + k) & 1) != 0) {
                values.at[k] = hn::Zero(kLanes);
              }
            }
          }
          const float* const addend = output.addends[i];
          HWY_UNROLL(4)
          for (int k = 0; k < kWinogradTile; ++k) {
            Vector value = hn::Add(bias, values.at[k]);
            if (addend != nullptr) {
              value = hn::Add(value, hn::LoadU(kLanes, addend + at + k * kBlock));
            }
            hn::StoreU(value, kLanes, output.rows[i] + at + k * kBlock);
          }
        }
        from += kBlock;
      }
    }
  }
}

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {
namespace {

HWY_EXPORT(winograd_input);
HWY_EXPORT(winograd_gradient);
HWY_EXPORT(winograd_output);

// The transforms of a kernel are done in double, so that it loses nothing on its way.
constexpr double kP = 1 / std::numbers::sqrt2;
constexpr double kQ = std::numbers::sqrt2;
constexpr double kG[kWinogradWindow][3] = {
    {1, 0, 0},
    {-2.0 / 3, -2.0 / 3 * kP, -1.0 / 3},
    {-2.0 / 3, 2.0 / 3 * kP, -1.0 / 3},
    {1.0 / 6, 1.0 / 6 * kQ, 1.0 / 3},
    {1.0 / 6, -1.0 / 6 * kQ, 1.0 / 3},
    {0, 0, 1},
};

}  // namespace

void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  HWY_DYNAMIC_DISPATCH(winograd_input)(v, position_stride, rows, block_stride, blocks, tiles);
}

void winograd_gradient(float* z, std::int64_t position_stride, const float* const* rows,
                       std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  HWY_DYNAMIC_DISPATCH(winograd_gradient)(z, position_stride, rows, block_stride, blocks, tiles);
}

void winograd_output(const WinogradOutput& output) {
  HWY_DYNAMIC_DISPATCH(winograd_output)(output);
}

void winograd_kernel(float* u, std::int64_t position_stride, const float* kernel, bool flipped) {
  double half[kWinogradWindow][3];
  for (int i = 0; i < kWinogradWindow; ++i) {
    for (int column = 0; column < 3; ++column) {
      half[i][column] = 0;
      for (int row = 0; row < 3; ++row) {
        const int at = 3 * row + column;
        half[i][column] += kG[i][row] * static_cast<double>(kernel[flipped ? 8 - at : at]);
      }
    }
  }
  for (int i = 0; i < kWinogradWindow; ++i) {
    for (int k = 0; k < kWinogradWindow; ++k) {
      const double* const h = half[i];
      u[(kWinogradWindow * i + k) * position_stride] =
          static_cast<float>(h[0] * kG[k][0] + h[1] * kG[k][1] + h[2] * kG[k][2]);
    }
  }
}

void winograd_kernel_gradient(float* kernel_gradient, const float* sums, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    double half[3][kWinogradWindow] = {};
    for (int i = 0; i < kWinogradWindow; ++i) {
      for (int k = 0; k < kWinogradWindow; ++k) {
        const double sum = sums[(kWinogradWindow * i + k) * count + at];
        for (int row = 0; row < 3; ++row) {
          half[row][k] += kG[i][row] * sum;
        }
      }
    }
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        double sum = 0;
        for (int k = 0; k < kWinogradWindow; ++k) {
          sum += half[row][k] * kG[k][column];
        }
        kernel_gradient[(3 * row + column) * count + at] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
