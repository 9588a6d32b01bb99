#include "target/cpu/kernels/winograd_kernels.hpp"

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

/// A column of four values.
struct Column {
  Vector at[4];
};

/// B' of one column: the rows of V are differences and sums of rows of the image.
HWY_INLINE Column input_column(Vector d0, Vector d1, Vector d2, Vector d3) {
  return {{hn::Sub(d0, d2), hn::Add(d1, d2), hn::Sub(d2, d1), hn::Sub(d1, d3)}};
}

HWY_INLINE Column load_column(const float* const* rows, std::int64_t at) {
  const auto load = [&](int i) HWY_ATTR {
    return rows[i] == nullptr ? hn::Zero(kLanes) : hn::LoadU(kLanes, rows[i] + at);
  };
  return input_column(load(0), load(1), load(2), load(3));
}

void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (std::int64_t lane = 0; lane < kBlock; lane += kLaneCount) {
      const std::int64_t base = block * block_stride + lane;
      float* to = v + block * tiles * kBlock + lane;
      // Neighbouring tiles share two of their four columns.
      Column c0 = load_column(rows, base);
      Column c1 = load_column(rows, base + kBlock);
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t at = base + (2 * tile + 2) * kBlock;
        const Column c2 = load_column(rows, at);
        const Column c3 = load_column(rows, at + kBlock);
        for (int i = 0; i < 4; ++i) {
          const Column row = input_column(c0.at[i], c1.at[i], c2.at[i], c3.at[i]);
          for (int k = 0; k < 4; ++k) {
            hn::StoreU(row.at[k], kLanes, to + (4 * i + k) * position_stride);
          }
        }
        to += kBlock;
        c0 = c2;
        c1 = c3;
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
        const auto product = [&](int i, int k) HWY_ATTR {
          return hn::LoadU(kLanes, from + (4 * i + k) * output.position_stride);
        };
        // A' on the left: two rows out of four, for each of the four columns.
        Vector top[4];
        Vector bottom[4];
        for (int k = 0; k < 4; ++k) {
          const Vector sum = hn::Add(product(1, k), product(2, k));
          const Vector difference = hn::Sub(product(1, k), product(2, k));
          top[k] = hn::Add(product(0, k), sum);
          bottom[k] = hn::Sub(difference, product(3, k));
        }
        const std::int64_t at = base + 2 * tile * kBlock;
        const auto store = [&](int row, const Vector* m) HWY_ATTR {
          Vector left = hn::Add(bias, hn::Add(m[0], hn::Add(m[1], m[2])));
          Vector right = hn::Add(bias, hn::Sub(hn::Sub(m[1], m[2]), m[3]));
          if (output.addends[row] != nullptr) {
            left = hn::Add(left, hn::LoadU(kLanes, output.addends[row] + at));
            right = hn::Add(right, hn::LoadU(kLanes, output.addends[row] + at + kBlock));
          }
          hn::StoreU(left, kLanes, output.rows[row] + at);
          hn::StoreU(right, kLanes, output.rows[row] + at + kBlock);
        };
        store(0, top);
        store(1, bottom);
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
HWY_EXPORT(winograd_output);

}  // namespace

void winograd_input(float* v, std::int64_t position_stride, const float* const* rows,
                    std::int64_t block_stride, std::int64_t blocks, std::int64_t tiles) {
  HWY_DYNAMIC_DISPATCH(winograd_input)(v, position_stride, rows, block_stride, blocks, tiles);
}

void winograd_output(const WinogradOutput& output) {
  HWY_DYNAMIC_DISPATCH(winograd_output)(output);
}

void winograd_kernel(float* u, std::int64_t position_stride, const float* kernel, bool flipped) {
  // G: the sums in double, so that the kernel loses nothing on its way.
  double half[4][3];
  for (int column = 0; column < 3; ++column) {
    const auto g = [&](int row) {
      const int at = 3 * row + column;
      return static_cast<double>(kernel[flipped ? 8 - at : at]);
    };
    half[0][column] = g(0);
    half[1][column] = (g(0) + g(1) + g(2)) / 2;
    half[2][column] = (g(0) - g(1) + g(2)) / 2;
    half[3][column] = g(2);
  }
  for (int row = 0; row < 4; ++row) {
    const double* const h = half[row];
    const double whole[4] = {h[0], (h[0] + h[1] + h[2]) / 2, (h[0] - h[1] + h[2]) / 2, h[2]};
    for (int column = 0; column < 4; ++column) {
      u[(4 * row + column) * position_stride] = static_cast<float>(whole[column]);
    }
  }
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
