#include "target/cpu/kernels/matrix_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "hwy/cache_control.h"

// Sums live in arrays of vectors, which scalable vectors (SVE, RVV) cannot form. SSSE3 is left out
// to save compile time: such machines run the baseline.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/matrix_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using std::int64_t;

constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;

// --- multiply: a tile of rows and vectors of columns stays in registers ---

constexpr int kTileRows = kManyRegisters ? 8 : 4;
constexpr int kTileVectors = kManyRegisters ? 3 : 2;

/// What becomes of an element of the product: it is kept.
struct KeepResult {
  float* out;
  int64_t stride;

  HWY_INLINE void expect(int64_t, int64_t, int64_t) const {}
  template <class D>
  HWY_INLINE void take(D d, hn::Vec<D> sum, int64_t row, int64_t column) const {
    hn::StoreU(sum, d, out + row * stride + column);
  }
};

/// It is a gradient, of which only the update is wanted.
struct ApplyUpdate {
  ProductUpdate update;
  int64_t columns;
  int64_t stride;

  /// These elements of a row are taken after the next tile. Moments and weights come from a larger
  /// cache or from memory; they are here when their sums are.
  HWY_INLINE void expect(int64_t row, int64_t column, int64_t count) const {
    constexpr int64_t kFloatsPerLine = 16;  // of a cache
    const int64_t begin = row * stride + column;
    const int64_t end = row * stride + std::min(column + count, columns);
    for (int64_t at = begin; at < end; at += kFloatsPerLine) {
      hwy::Prefetch(update.moment + at);
      hwy::Prefetch(update.weights + at);
    }
    if (begin < end) {  // which may lie in one line more than there are steps
      hwy::Prefetch(update.moment + end - 1);
      hwy::Prefetch(update.weights + end - 1);
    }
  }
  template <class D>
  HWY_INLINE void take(D d, hn::Vec<D> sum, int64_t row, int64_t column) const {
    const int64_t at = row * stride + column;
    const auto moment = hn::MulAdd(hn::Set(d, update.decay), hn::LoadU(d, update.moment + at),
                                   hn::Mul(hn::Set(d, update.gain), sum));
    hn::StoreU(moment, d, update.new_moment + at);
    const auto weights =
        hn::MulAdd(hn::Set(d, -update.rate), moment, hn::LoadU(d, update.weights + at));
    hn::StoreU(weights, d, update.new_weights + at);
  }
};

template <int kRows, int kVectors, class D, class Results>
HWY_NOINLINE void product_tile(D d, const MatrixProduct& p, const Results& results, int64_t row,
                               int64_t column) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  hn::Vec<D> sums[kRows][kVectors];
  for (auto& of_row : sums) {
    for (auto& sum : of_row) {
      sum = hn::Zero(d);
    }
  }
  const float* a = p.a + row * p.a_row_stride;
  const float* b = p.b + column;
  for (int64_t k = 0; k < p.inner; ++k) {
    hn::Vec<D> values[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      values[v] = hn::LoadU(d, b + v * kLanes);
    }
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * p.a_row_stride]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
      }
    }
    a += p.a_inner_stride;
    b += p.b_stride;
  }
  const Results taker = results;  // a copy, which no store below can change
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      taker.take(d, sums[r][v], row + r, column + v * kLanes);
    }
  }
}

/// All rows of some columns, in tiles of kRows and then smaller ones.
template <int kVectors, class D, class Results, int kRows = kTileRows>
void product_columns(D d, const MatrixProduct& p, const Results& results, int64_t column,
                     int64_t row = 0) {
  constexpr int64_t kColumns = kVectors * hn::MaxLanes(D());
  for (; row + kRows <= p.rows; row += kRows) {
    for (int64_t next = row + kRows; next < row + 2 * kRows; ++next) {
      const bool below = next < p.rows;
      results.expect(below ? next : next - p.rows, below ? column : column + kColumns, kColumns);
    }
    product_tile<kRows, kVectors>(d, p, results, row, column);
  }
  if constexpr (kRows > 1) {
    if (row < p.rows) {
      product_columns<kVectors, D, Results, kRows / 2>(d, p, results, column, row);
    }
  }
}

/// The columns from this one on. What does not fill a vector goes into shorter ones: nothing is
/// computed twice, because an update must not happen twice.
template <class D, class Results>
void product_in_vectors(D d, const MatrixProduct& p, const Results& results, int64_t column = 0) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (; column + kTileVectors * kLanes <= p.columns; column += kTileVectors * kLanes) {
    product_columns<kTileVectors>(d, p, results, column);
  }
  for (; column + kLanes <= p.columns; column += kLanes) {
    product_columns<1>(d, p, results, column);
  }
  if constexpr (kLanes > 1) {
    if (column < p.columns) {
      product_in_vectors(hn::Half<D>(), p, results, column);
    }
  }
}

void multiply_on_target(const MatrixProduct& p) {
  product_in_vectors(hn::ScalableTag<float>(), p, KeepResult{p.out, p.out_stride});
}

void multiply_and_update_on_target(const MatrixProduct& p, const ProductUpdate& update) {
  product_in_vectors(hn::ScalableTag<float>(), p, ApplyUpdate{update, p.columns, p.out_stride});
}

// --- multiply_rows: products of vectors along k, added up at the end ---

constexpr int kTile = kManyRegisters ? 4 : 2;  // rows of a and of b

template <int kRows, int kColumns>
HWY_NOINLINE void row_products_tile(const RowProducts& p, int64_t row, int64_t column) {
  constexpr hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  V sums[kRows][kColumns];
  for (auto& of_row : sums) {
    for (V& sum : of_row) {
      sum = hn::Zero(d);
    }
  }
  const float* const a = p.a + row * p.inner;
  const float* const b = p.b + column * p.inner;
  const auto add = [&](int64_t k, const auto& part) HWY_ATTR {
    V values[kColumns];
    HWY_UNROLL(4)
    for (int c = 0; c < kColumns; ++c) {
      values[c] = hn::LoadU(d, b + c * p.inner + k);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const V factor = part(hn::LoadU(d, a + r * p.inner + k));
      HWY_UNROLL(4)
      for (int c = 0; c < kColumns; ++c) {
        sums[r][c] = hn::MulAdd(factor, values[c], sums[r][c]);
      }
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= p.inner; k += kLanes) {
    add(k, [](V v) HWY_ATTR { return v; });
  }
  const int64_t rest = p.inner - k;
  const bool overlaps = rest > 0 && p.inner >= kLanes;
  if (overlaps) {  // the last vector, without what the one before it has seen
    const auto seen = hn::FirstN(d, static_cast<std::size_t>(kLanes - rest));
    add(p.inner - kLanes, [seen](V v) HWY_ATTR { return hn::IfThenZeroElse(seen, v); });
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      float sum = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
      for (int64_t i = k; i < p.inner && !overlaps; ++i) {
        sum += a[r * p.inner + i] * b[c * p.inner + i];
      }
      p.out[(row + r) * p.out_stride + column + c] = sum;
    }
  }
}

template <int kColumns, int kRows = kTile>
void row_products_columns(const RowProducts& p, int64_t column, int64_t row = 0) {
  for (; row + kRows <= p.rows; row += kRows) {
    row_products_tile<kRows, kColumns>(p, row, column);
  }
  if constexpr (kRows > 1) {
    if (row < p.rows) {
      row_products_columns<kColumns, kRows / 2>(p, column, row);
    }
  }
}

template <int kColumns = kTile>
void row_products(const RowProducts& p, int64_t column = 0) {
  for (; column + kColumns <= p.columns; column += kColumns) {
    row_products_columns<kColumns>(p, column);
  }
  if constexpr (kColumns > 1) {
    if (column < p.columns) {
      row_products<kColumns / 2>(p, column);
    }
  }
}

void multiply_rows_on_target(const RowProducts& p) {
  row_products(p);
}

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {
namespace {
HWY_EXPORT(multiply_on_target);
HWY_EXPORT(multiply_and_update_on_target);
HWY_EXPORT(multiply_rows_on_target);
}  // namespace

void multiply(const MatrixProduct& product) {
  HWY_DYNAMIC_DISPATCH(multiply_on_target)(product);
}
void multiply_and_update(const MatrixProduct& gradient, const ProductUpdate& update) {
  HWY_DYNAMIC_DISPATCH(multiply_and_update_on_target)(gradient, update);
}
void multiply_rows(const RowProducts& product) {
  HWY_DYNAMIC_DISPATCH(multiply_rows_on_target)(product);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
