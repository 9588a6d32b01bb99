// Pooling and upsampling of blocked rows, and their adjoints. Channels never mix, so each kernel
// runs once per vector of channels and walks the pixels with a stride of eight.
#include <algorithm>
#include <type_traits>

#include "target/cpu/kernels/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/resample_rows.cpp"
// Each target costs a compilation; SSSE3 machines without SSE4 run the baseline.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what highway.h is compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Channels = hn::CappedTag<float, 8>;
using V = hn::Vec<Channels>;
constexpr Channels d;
constexpr std::int64_t kBlock = 8;
constexpr std::int64_t kLanes = std::int64_t{hn::MaxLanes(d)};

template <class Body>
HWY_INLINE void for_each_channel_vector(const Body& body) {
  for (std::int64_t channel = 0; channel < kBlock; channel += kLanes) {
    body(channel);
  }
}

HWY_INLINE V load_pixel(const float* row, std::int64_t pixel) {
  return hn::Load(d, row + kBlock * pixel);
}
HWY_INLINE void store_pixel(V v, float* row, std::int64_t pixel) {
  hn::Store(v, d, row + kBlock * pixel);
}

/// Extents of a pooling window. Nearly all windows are 2 x 2; extents known to the compiler unroll
/// the loops over such a window and keep its pixels in registers.
template <class Extent>
struct Window {
  Extent rows;
  Extent columns;

  /// body(row, column) in row-major order.
  template <class Body>
  HWY_INLINE void for_each_pixel(const Body& body) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        body(row, column);
      }
    }
  }

  HWY_INLINE V max(const float* const* source, std::int64_t channel, std::int64_t pixel) const {
    V largest = load_pixel(source[0] + channel, columns * pixel);
    for_each_pixel([&](std::int64_t row, std::int64_t column) HWY_ATTR {
      largest = hn::Max(largest, load_pixel(source[row] + channel, columns * pixel + column));
    });
    return largest;
  }
};

template <class Body>
HWY_INLINE void with_window(std::int64_t rows, std::int64_t columns, const Body& body) {
  using Two = std::integral_constant<std::int64_t, 2>;
  if (rows == 2 && columns == 2) {
    body(Window<Two>{});
  } else {
    body(Window<std::int64_t>{rows, columns});
  }
}

void max_pool_row(float* out, const float* const* rows, std::int64_t window_rows,
                  std::int64_t window_columns, std::int64_t pixels) {
  with_window(window_rows, window_columns, [=](const auto window) HWY_ATTR {
    for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        store_pixel(window.max(rows, c, pixel), out + c, pixel);
      }
    });
  });
}

void max_pool_gradient_rows(float* const* out, const float* const* rows, const float* dy,
                            std::int64_t window_rows, std::int64_t window_columns,
                            std::int64_t pixels) {
  with_window(window_rows, window_columns, [=](const auto window) HWY_ATTR {
    for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const V largest = window.max(rows, c, pixel);
        // The first pixel to equal the maximum takes the gradient and leaves none for later ties.
        V rest = load_pixel(dy + c, pixel);
        window.for_each_pixel([&](std::int64_t row, std::int64_t column) HWY_ATTR {
          const std::int64_t source = window.columns * pixel + column;
          const auto hit = hn::Eq(load_pixel(rows[row] + c, source), largest);
          store_pixel(hn::IfThenElseZero(hit, rest), out[row] + c, source);
          rest = hn::IfThenZeroElse(hit, rest);
        });
      }
    });
  });
}

void upsample_bilinear_row(float* out, const float* near, const float* far, float far_weight,
                           std::int64_t source_width, std::int64_t first, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V near_share = hn::Set(d, 1.0f - far_weight);
    const V far_share = hn::Set(d, far_weight);
    const V quarter = hn::Set(d, 0.25f);
    const V three_quarters = hn::Set(d, 0.75f);
    const auto source = [=](std::int64_t pixel) HWY_ATTR {
      const std::int64_t i = std::clamp<std::int64_t>(pixel, 0, source_width - 1);
      return hn::MulAdd(load_pixel(far + c, i), far_share,
                        hn::Mul(load_pixel(near + c, i), near_share));
    };
    const auto between = [=](V close, V distant) HWY_ATTR {
      return hn::MulAdd(close, three_quarters, hn::Mul(distant, quarter));
    };

    float* const target = out + c;
    const std::int64_t end = first + pixels;
    std::int64_t pixel = first;
    if (pixel % 2 != 0 && pixel < end) {
      store_pixel(between(source(pixel / 2), source(pixel / 2 + 1)), target, 0);
      ++pixel;
    }
    if (pixel >= end) {
      return;
    }
    V left = source(pixel / 2 - 1);
    V centre = source(pixel / 2);
    for (; pixel + 2 <= end; pixel += 2) {
      const V right = source(pixel / 2 + 1);
      store_pixel(between(centre, left), target, pixel - first);
      store_pixel(between(centre, right), target, pixel - first + 1);
      left = centre;
      centre = right;
    }
    if (pixel < end) {
      store_pixel(between(centre, left), target, pixel - first);
    }
  });
}

void add_upsample_bilinear_gradient_row(float* out, const float* dy, float weight,
                                        std::int64_t source_width) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V close_share = hn::Set(d, 0.75f * weight);
    const V distant_share = hn::Set(d, 0.25f * weight);
    const std::int64_t last = 2 * source_width - 1;
    for (std::int64_t i = 0; i < source_width; ++i) {
      // At an edge the clamped forward pass read the edge pixel twice: so does the clamp here.
      const V close = hn::Add(load_pixel(dy + c, 2 * i), load_pixel(dy + c, 2 * i + 1));
      const V distant = hn::Add(load_pixel(dy + c, std::max<std::int64_t>(2 * i - 1, 0)),
                                load_pixel(dy + c, std::min(2 * i + 2, last)));
      const V sum = hn::MulAdd(close, close_share, load_pixel(out + c, i));
      store_pixel(hn::MulAdd(distant, distant_share, sum), out + c, i);
    }
  });
}

void upsample_nearest_row(float* out, const float* x, std::int64_t factor, std::int64_t first,
                          std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    std::int64_t pixel = 0;
    std::int64_t run_end = factor - first % factor;
    for (std::int64_t source = first / factor; pixel < pixels; ++source, run_end += factor) {
      const V v = load_pixel(x + c, source);
      for (; pixel < std::min(run_end, pixels); ++pixel) {
        store_pixel(v, out + c, pixel);
      }
    }
  });
}

void add_upsample_nearest_gradient_row(float* out, const float* dy, std::int64_t factor,
                                       std::int64_t source_width) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    for (std::int64_t i = 0; i < source_width; ++i) {
      V sum = load_pixel(out + c, i);
      for (std::int64_t k = 0; k < factor; ++k) {
        sum = hn::Add(sum, load_pixel(dy + c, factor * i + k));
      }
      store_pixel(sum, out + c, i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(max_pool_row);
HWY_EXPORT(max_pool_gradient_rows);
HWY_EXPORT(upsample_bilinear_row);
HWY_EXPORT(add_upsample_bilinear_gradient_row);
HWY_EXPORT(upsample_nearest_row);
HWY_EXPORT(add_upsample_nearest_gradient_row);

void max_pool_row(float* out, const float* const* rows, std::int64_t window_rows,
                  std::int64_t window_columns, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(max_pool_row)(out, rows, window_rows, window_columns, pixels);
}
void max_pool_gradient_rows(float* const* out, const float* const* rows, const float* dy,
                            std::int64_t window_rows, std::int64_t window_columns,
                            std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(max_pool_gradient_rows)
  (out, rows, dy, window_rows, window_columns, pixels);
}
void upsample_bilinear_row(float* out, const float* near, const float* far, float far_weight,
                           std::int64_t source_width, std::int64_t first, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(upsample_bilinear_row)
  (out, near, far, far_weight, source_width, first, pixels);
}
void add_upsample_bilinear_gradient_row(float* out, const float* dy, float weight,
                                        std::int64_t source_width) {
  HWY_DYNAMIC_DISPATCH(add_upsample_bilinear_gradient_row)(out, dy, weight, source_width);
}
void upsample_nearest_row(float* out, const float* x, std::int64_t factor, std::int64_t first,
                          std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(upsample_nearest_row)(out, x, factor, first, pixels);
}
void add_upsample_nearest_gradient_row(float* out, const float* dy, std::int64_t factor,
                                       std::int64_t source_width) {
  HWY_DYNAMIC_DISPATCH(add_upsample_nearest_gradient_row)(out, dy, factor, source_width);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
