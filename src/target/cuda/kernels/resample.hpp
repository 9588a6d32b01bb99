// Pooling and upsampling. Each thread gathers what its own element needs, so that nothing has to be
// added up across threads.
#pragma once

#include "target/cuda/kernels/conv.hpp"

namespace cosmic::target::cuda {

/// The first largest pixel of a window in (depth, row, column) order.
COSMIC_DEVICE inline std::int64_t largest_in_window(const float* plane, const Extent3& image,
                                                    const Extent3& window, const Place3& pooled) {
  const Place3 corner{pooled.depth * window.depth, pooled.row * window.rows,
                      pooled.column * window.columns};
  std::int64_t largest = image.element(corner.depth, corner.row, corner.column);
  for (int d = 0; d < window.depth; ++d) {
    for (int r = 0; r < window.rows; ++r) {
      for (int c = 0; c < window.columns; ++c) {
        const std::int64_t candidate =
            image.element(corner.depth + d, corner.row + r, corner.column + c);
        if (plane[candidate] > plane[largest]) {
          largest = candidate;
        }
      }
    }
  }
  return largest;
}

/// i: an element of the result.
struct MaxPoolBody {
  const float* x;
  float* y;
  Extent3 image;
  Extent3 pooled;
  Extent3 window;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, pooled.pixels());
    const float* const plane = x + at.whole * image.pixels();
    y[i] = plane[largest_in_window(plane, image, window, place_of(at.rest, pooled))];
  }
};

/// i: an element of x.
struct MaxPoolGradientBody {
  const float* x;
  const float* dy;
  float* dx;
  Extent3 image;
  Extent3 pooled;
  Extent3 window;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, image.pixels());
    const Place3 place = place_of(at.rest, image);
    const Place3 to{place.depth / window.depth, place.row / window.rows,
                    place.column / window.columns};
    float gradient = 0;  // of what fills no window
    if (to.depth < pooled.depth && to.row < pooled.rows && to.column < pooled.columns &&
        largest_in_window(x + at.whole * image.pixels(), image, window, to) == at.rest) {
      gradient = dy[at.whole * pooled.pixels() + pooled.element(to.depth, to.row, to.column)];
    }
    dx[i] = gradient;
  }
};

struct Taps2 {
  int low;
  int high;
  float beyond;  ///< the weight of `high`; that of `low` is what is left of 1
};

/// Which pixels of the small image make pixel i of one twice as large, source coordinate
/// (i + 0.5) / 2 - 0.5, clamped at the edges.
COSMIC_DEVICE inline Taps2 bilinear_taps(int i, int extent) {
  if (i == 0) {
    return {0, 0, 0.0F};
  }
  const int low = (i - 1) / 2;
  const int high = low + 1 < extent ? low + 1 : extent - 1;
  return {low, high, i % 2 == 1 ? 0.25F : 0.75F};
}

/// How much of small pixel `at` is in large pixel i.
COSMIC_DEVICE inline float bilinear_share(int i, int at, int extent) {
  const Taps2 taps = bilinear_taps(i, extent);
  return (taps.low == at ? 1 - taps.beyond : 0.0F) + (taps.high == at ? taps.beyond : 0.0F);
}

/// i: an element of the large image.
struct UpsampleBody {
  const float* x;
  float* y;
  Extent3 small;
  Extent3 large;
  Extent3 factor;
  bool bilinear;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, large.pixels());
    const Place3 to = place_of(at.rest, large);
    const float* const plane = x + at.whole * small.pixels();
    const int depth = to.depth / factor.depth;
    if (!bilinear) {
      y[i] = plane[small.element(depth, to.row / factor.rows, to.column / factor.columns)];
      return;
    }
    const Taps2 rows = bilinear_taps(to.row, small.rows);
    const Taps2 columns = bilinear_taps(to.column, small.columns);
    const auto along_row = [&](int row) {
      return (1 - columns.beyond) * plane[small.element(depth, row, columns.low)] +
             columns.beyond * plane[small.element(depth, row, columns.high)];
    };
    y[i] = (1 - rows.beyond) * along_row(rows.low) + rows.beyond * along_row(rows.high);
  }
};

/// i: an element of the small image, which gathers what its pixel gave to the large one.
struct UpsampleGradientBody {
  const float* dy;
  float* dx;
  Extent3 small;
  Extent3 large;
  Extent3 factor;
  bool bilinear;

  COSMIC_DEVICE void operator()(std::int64_t i) const {
    const Division at = divide(i, small.pixels());
    const Place3 from = place_of(at.rest, small);
    const float* const plane = dy + at.whole * large.pixels();
    float sum = 0;
    for (int d = from.depth * factor.depth; d < (from.depth + 1) * factor.depth; ++d) {
      sum += bilinear ? bilinear_sum(plane, d, from) : nearest_sum(plane, d, from);
    }
    dx[i] = sum;
  }

  COSMIC_DEVICE float nearest_sum(const float* plane, int depth, const Place3& from) const {
    float sum = 0;
    for (int r = from.row * factor.rows; r < (from.row + 1) * factor.rows; ++r) {
      for (int c = from.column * factor.columns; c < (from.column + 1) * factor.columns; ++c) {
        sum += plane[large.element(depth, r, c)];
      }
    }
    return sum;
  }

  /// A pixel has a share in the two large ones in its place and in the two beside them.
  COSMIC_DEVICE float bilinear_sum(const float* plane, int depth, const Place3& from) const {
    float sum = 0;
    for (int r = 2 * from.row - 1; r <= 2 * from.row + 2; ++r) {
      if (r < 0 || r >= large.rows) {
        continue;
      }
      const float share_of_row = bilinear_share(r, from.row, small.rows);
      for (int c = 2 * from.column - 1; c <= 2 * from.column + 2; ++c) {
        if (c >= 0 && c < large.columns) {
          sum += share_of_row * bilinear_share(c, from.column, small.columns) *
                 plane[large.element(depth, r, c)];
        }
      }
    }
    return sum;
  }
};

}  // namespace cosmic::target::cuda
