// Maps and sums over blocked pixels. Channels never mix here, so each kernel runs once per vector
// of channels (once where a vector holds all eight) and walks the pixels with a stride of eight.
#include <algorithm>

#include "target/cpu/kernels/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/pointwise_rows.cpp"
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
constexpr std::int64_t kUnroll = 4;

template <class Body>
HWY_INLINE void for_each_channel_vector(const Body& body) {
  for (std::int64_t channel = 0; channel < kBlock; channel += kLanes) {
    body(channel);
  }
}

/// out = op(sources...) for one vector of channels of every pixel.
template <class Op, class... Source>
HWY_INLINE void map_pixels(float* out, std::int64_t pixels, const Op& op,
                           const Source*... sources) {
  std::int64_t pixel = 0;
  for (; pixel + kUnroll <= pixels; pixel += kUnroll) {
    // All loads before all stores: the compiler cannot know that only equal pointers may alias.
    V result[kUnroll];
    for (std::int64_t k = 0; k < kUnroll; ++k) {
      result[k] = op(hn::Load(d, sources + kBlock * (pixel + k))...);
    }
    for (std::int64_t k = 0; k < kUnroll; ++k) {
      hn::Store(result[k], d, out + kBlock * (pixel + k));
    }
  }
  for (; pixel < pixels; ++pixel) {
    hn::Store(op(hn::Load(d, sources + kBlock * pixel)...), d, out + kBlock * pixel);
  }
}

/// x > 0 ? value : slope * value.
HWY_INLINE V scaled_unless_positive(V x, V value, V slope) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), value, hn::Mul(value, slope));
}

/// x * scale + shift, rounded alike (so signed alike) for values and for their gradients.
struct Affine {
  V scale;
  V shift;
  HWY_INLINE Affine(const float* scales, const float* shifts)
      : scale(hn::Load(d, scales)), shift(hn::Load(d, shifts)) {}
  HWY_INLINE V operator()(V x) const { return hn::MulAdd(x, scale, shift); }
};

void affine_leaky(float* out, const float* x, const float* scale, const float* shift, float slope,
                  std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Affine affine(scale + c, shift + c);
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx) HWY_ATTR {
      const V y = affine(vx);
      return scaled_unless_positive(y, y, s);
    };
    map_pixels(out + c, pixels, op, x + c);
  });
}

void leaky(float* out, const float* x, float slope, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx) HWY_ATTR { return scaled_unless_positive(vx, vx, s); };
    map_pixels(out + c, pixels, op, x + c);
  });
}

void add_leaky(float* out, const float* a, const float* b, float slope, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V s = hn::Set(d, slope);
    const auto op = [=](V va, V vb) HWY_ATTR {
      const V y = hn::Add(va, vb);
      return scaled_unless_positive(y, y, s);
    };
    map_pixels(out + c, pixels, op, a + c, b + c);
  });
}

void affine_leaky_add(float* out, const float* x, const float* scale, const float* shift,
                      float slope, const float* b, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Affine affine(scale + c, shift + c);
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx, V vb) HWY_ATTR {
      const V y = affine(vx);
      return hn::Add(scaled_unless_positive(y, y, s), vb);
    };
    map_pixels(out + c, pixels, op, x + c, b + c);
  });
}

void affine_add_leaky(float* out, const float* x, const float* scale, const float* shift,
                      const float* b, float slope, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Affine affine(scale + c, shift + c);
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx, V vb) HWY_ATTR {
      const V y = hn::Add(affine(vx), vb);
      return scaled_unless_positive(y, y, s);
    };
    map_pixels(out + c, pixels, op, x + c, b + c);
  });
}

void leaky_gradient(float* out, const float* x, const float* dy, float slope, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx, V vdy) HWY_ATTR { return scaled_unless_positive(vx, vdy, s); };
    map_pixels(out + c, pixels, op, x + c, dy + c);
  });
}

void affine_leaky_gradient(float* out, const float* x, const float* scale, const float* shift,
                           float slope, const float* dy, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Affine affine(scale + c, shift + c);
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx, V vdy)
                        HWY_ATTR { return scaled_unless_positive(affine(vx), vdy, s); };
    map_pixels(out + c, pixels, op, x + c, dy + c);
  });
}

/// dy * p + x * q + r.
struct Combination {
  V p;
  Affine rest;
  HWY_INLINE Combination(const float* ps, const float* qs, const float* rs)
      : p(hn::Load(d, ps)), rest(qs, rs) {}
  HWY_INLINE V operator()(V dy, V x) const { return hn::MulAdd(dy, p, rest(x)); }
};

void combine(float* out, const float* dy, const float* x, const float* p, const float* q,
             const float* r, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Combination combination(p + c, q + c, r + c);
    const auto op = [=](V vdy, V vx) HWY_ATTR { return combination(vdy, vx); };
    map_pixels(out + c, pixels, op, dy + c, x + c);
  });
}

void affine_leaky_gradient_combine(float* out, const float* x, const float* scale,
                                   const float* shift, float slope, const float* dy, const float* p,
                                   const float* q, const float* r, std::int64_t pixels) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const Affine affine(scale + c, shift + c);
    const Combination combination(p + c, q + c, r + c);
    const V s = hn::Set(d, slope);
    const auto op = [=](V vx, V vdy) HWY_ATTR {
      return combination(scaled_unless_positive(affine(vx), vdy, s), vx);
    };
    map_pixels(out + c, pixels, op, x + c, dy + c);
  });
}

HWY_INLINE void add_to_doubles(V v, double* sums) {
  HWY_ALIGN float lane[kLanes];
  hn::Store(v, d, lane);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    sums[i] += double{lane[i]};
  }
}

/// Adds kSums sums over the pixels. op(partials, sources...) adds one pixel to kSums float vectors;
/// these absorb few enough pixels (32 each) for their rounding to stay below that of the input.
template <int kSums, class Op, class... Source>
HWY_INLINE void sum_pixels(double* const (&sums)[kSums], std::int64_t pixels, const Op& op,
                           const Source*... sources) {
  constexpr std::int64_t kRun = 32 * kUnroll;
  for (std::int64_t begin = 0; begin < pixels; begin += kRun) {
    const std::int64_t end = std::min(begin + kRun, pixels);
    V partial[kUnroll][kSums];
    for (auto& one : partial) {
      for (V& sum : one) {
        sum = hn::Zero(d);
      }
    }
    std::int64_t pixel = begin;
    for (; pixel + kUnroll <= end; pixel += kUnroll) {
      for (std::int64_t k = 0; k < kUnroll; ++k) {
        op(partial[k], hn::Load(d, sources + kBlock * (pixel + k))...);
      }
    }
    for (; pixel < end; ++pixel) {
      op(partial[0], hn::Load(d, sources + kBlock * pixel)...);
    }
    for (int s = 0; s < kSums; ++s) {
      add_to_doubles(
          hn::Add(hn::Add(partial[0][s], partial[1][s]), hn::Add(partial[2][s], partial[3][s])),
          sums[s]);
    }
  }
}

void add_moments(const float* x, const float* pivot, std::int64_t pixels, double* sum,
                 double* square) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const V centre = hn::Load(d, pivot + c);
    const auto op = [=](V(&partial)[2], V vx) HWY_ATTR {
      const V off = hn::Sub(vx, centre);
      partial[0] = hn::Add(partial[0], off);
      partial[1] = hn::MulAdd(off, off, partial[1]);
    };
    sum_pixels({sum + c, square + c}, pixels, op, x + c);
  });
}

void add_products(const float* x, const float* dy, std::int64_t pixels, double* sum,
                  double* product) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const auto op = [](V(&partial)[2], V vx, V vdy) HWY_ATTR {
      partial[0] = hn::Add(partial[0], vdy);
      partial[1] = hn::MulAdd(vdy, vx, partial[1]);
    };
    sum_pixels({sum + c, product + c}, pixels, op, x + c, dy + c);
  });
}

void add_sums(const float* x, std::int64_t pixels, double* sum) {
  for_each_channel_vector([=](std::int64_t c) HWY_ATTR {
    const auto op = [](V(&partial)[1], V vx) HWY_ATTR { partial[0] = hn::Add(partial[0], vx); };
    sum_pixels({sum + c}, pixels, op, x + c);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(affine_leaky);
HWY_EXPORT(leaky);
HWY_EXPORT(add_leaky);
HWY_EXPORT(affine_leaky_add);
HWY_EXPORT(affine_add_leaky);
HWY_EXPORT(leaky_gradient);
HWY_EXPORT(affine_leaky_gradient);
HWY_EXPORT(combine);
HWY_EXPORT(affine_leaky_gradient_combine);
HWY_EXPORT(add_moments);
HWY_EXPORT(add_products);
HWY_EXPORT(add_sums);

void affine_leaky(float* out, const float* x, const float* scale, const float* shift, float slope,
                  std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(affine_leaky)(out, x, scale, shift, slope, pixels);
}
void leaky(float* out, const float* x, float slope, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(leaky)(out, x, slope, pixels);
}
void add_leaky(float* out, const float* a, const float* b, float slope, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(add_leaky)(out, a, b, slope, pixels);
}
void affine_leaky_add(float* out, const float* x, const float* scale, const float* shift,
                      float slope, const float* b, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(affine_leaky_add)(out, x, scale, shift, slope, b, pixels);
}
void affine_add_leaky(float* out, const float* x, const float* scale, const float* shift,
                      const float* b, float slope, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(affine_add_leaky)(out, x, scale, shift, b, slope, pixels);
}
void leaky_gradient(float* out, const float* x, const float* dy, float slope, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(leaky_gradient)(out, x, dy, slope, pixels);
}
void affine_leaky_gradient(float* out, const float* x, const float* scale, const float* shift,
                           float slope, const float* dy, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(affine_leaky_gradient)(out, x, scale, shift, slope, dy, pixels);
}
void combine(float* out, const float* dy, const float* x, const float* p, const float* q,
             const float* r, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(combine)(out, dy, x, p, q, r, pixels);
}
void affine_leaky_gradient_combine(float* out, const float* x, const float* scale,
                                   const float* shift, float slope, const float* dy, const float* p,
                                   const float* q, const float* r, std::int64_t pixels) {
  HWY_DYNAMIC_DISPATCH(affine_leaky_gradient_combine)
  (out, x, scale, shift, slope, dy, p, q, r, pixels);
}
void add_moments(const float* x, const float* pivot, std::int64_t pixels, double* sum,
                 double* square) {
  HWY_DYNAMIC_DISPATCH(add_moments)(x, pivot, pixels, sum, square);
}
void add_products(const float* x, const float* dy, std::int64_t pixels, double* sum,
                  double* product) {
  HWY_DYNAMIC_DISPATCH(add_products)(x, dy, pixels, sum, product);
}
void add_sums(const float* x, std::int64_t pixels, double* sum) {
  HWY_DYNAMIC_DISPATCH(add_sums)(x, pixels, sum);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
