// Optimizer arithmetic on flat arrays: no layout, any alignment, any length.
#include "target/cpu/kernels/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/flat_kernels.cpp"
// Each target costs a compilation; SSSE3 machines without SSE4 run the baseline.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what highway.h is compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out = op(tag, sources...). The tail runs the same op on one lane, so that a result does not
/// depend on where in the array its element stands.
template <class Op, class... Source>
HWY_INLINE void map_floats(float* out, std::int64_t count, const Op& op, const Source*... sources) {
  constexpr hn::ScalableTag<float> vector;
  constexpr hn::CappedTag<float, 1> scalar;
  constexpr std::int64_t kLanes = std::int64_t{hn::MaxLanes(vector)};
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const auto first = op(vector, hn::LoadU(vector, sources + i)...);
    const auto second = op(vector, hn::LoadU(vector, sources + i + kLanes)...);
    hn::StoreU(first, vector, out + i);
    hn::StoreU(second, vector, out + i + kLanes);
  }
  for (; i < count; ++i) {
    hn::StoreU(op(scalar, hn::LoadU(scalar, sources + i)...), scalar, out + i);
  }
}

void scale_add(float* out, const float* a, const float* b, float b_factor, std::int64_t count) {
  const auto op = [=](auto d, auto va, auto vb)
                      HWY_ATTR { return hn::MulAdd(hn::Set(d, b_factor), vb, va); };
  map_floats(out, count, op, a, b);
}

void scale_floats(float* out, const float* x, float factor, std::int64_t count) {
  const auto op = [=](auto d, auto vx) HWY_ATTR { return hn::Mul(hn::Set(d, factor), vx); };
  map_floats(out, count, op, x);
}

void gate_floats(float* out, const float* x, const float* dy, float slope, std::int64_t count) {
  const auto op = [=](auto d, auto vx, auto vdy) HWY_ATTR {
    return hn::IfThenElse(hn::Gt(vx, hn::Zero(d)), vdy, hn::Mul(hn::Set(d, slope), vdy));
  };
  map_floats(out, count, op, x, dy);
}

void update_moment(float* out, const float* m, const float* g, float decay, float gain, int power,
                   std::int64_t count) {
  const auto first = [=](auto d, auto vm, auto vg) HWY_ATTR {
    return hn::MulAdd(hn::Set(d, decay), vm, hn::Mul(hn::Set(d, gain), vg));
  };
  const auto second = [=](auto d, auto vm, auto vg) HWY_ATTR {
    return hn::MulAdd(hn::Set(d, decay), vm, hn::Mul(hn::Mul(hn::Set(d, gain), vg), vg));
  };
  if (power == 1) {
    map_floats(out, count, first, m, g);
  } else {
    map_floats(out, count, second, m, g);
  }
}

void adam_step(float* out, const float* p, const float* m, const float* v, float rate,
               float v_scale, float epsilon, float keep, std::int64_t count) {
  const auto op = [=](auto d, auto vp, auto vm, auto vv) HWY_ATTR {
    const auto spread = hn::MulAdd(hn::Sqrt(vv), hn::Set(d, v_scale), hn::Set(d, epsilon));
    const auto step = hn::Div(hn::Mul(hn::Set(d, rate), vm), spread);
    return hn::MulSub(hn::Set(d, keep), vp, step);
  };
  map_floats(out, count, op, p, m, v);
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(scale_add);
HWY_EXPORT(scale_floats);
HWY_EXPORT(gate_floats);
HWY_EXPORT(update_moment);
HWY_EXPORT(adam_step);

void scale_add(float* out, const float* a, const float* b, float b_factor, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_add)(out, a, b, b_factor, count);
}
void scale_floats(float* out, const float* x, float factor, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_floats)(out, x, factor, count);
}
void gate_floats(float* out, const float* x, const float* dy, float slope, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(gate_floats)(out, x, dy, slope, count);
}
void update_moment(float* out, const float* m, const float* g, float decay, float gain, int power,
                   std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(update_moment)(out, m, g, decay, gain, power, count);
}
void adam_step(float* out, const float* p, const float* m, const float* v, float rate,
               float v_scale, float epsilon, float keep, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(adam_step)(out, p, m, v, rate, v_scale, epsilon, keep, count);
}
void rmsprop_step(float* out, const float* p, const float* g, const float* v, float rate,
                  float epsilon, float keep, std::int64_t count) {
  // The same step with an unscaled root.
  HWY_DYNAMIC_DISPATCH(adam_step)(out, p, g, v, rate, 1.0f, epsilon, keep, count);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
