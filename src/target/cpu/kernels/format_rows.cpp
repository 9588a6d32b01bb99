// The functions of core/number_format.cpp and core/rounding_noise.hpp on vectors: integer
// arithmetic on the bits of floats, so that no machine's own idea of a conversion comes into it.
#include "target/cpu/kernels/format_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/format_rows.cpp"
// Each target costs a compilation; SSSE3 machines without SSE4 run the baseline.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what highway.h is compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits = hn::Vec<hn::RebindToUnsigned<D>>;
template <class D>
using Floats = hn::Vec<D>;

constexpr std::uint32_t kMagnitude = 0x7fffffffU;
constexpr std::uint32_t kQuiet = 0x00400000U;
constexpr std::uint32_t kExponentShift = 112U << 23;
constexpr std::uint32_t kLeastNormalF16 = 113U << 23;
constexpr std::uint32_t kBeyondF16 = 143U << 23;

// --- what is added below the last bit that is kept ---

/// Half of it, less a little where the last bit is even.
struct ToNearest {
  template <int kDropped, class D>
  HWY_INLINE Bits<D> added(D, Bits<D> bits, std::int64_t) const {
    const hn::RebindToUnsigned<D> du;
    const Bits<D> odd = hn::And(hn::ShiftRight<kDropped>(bits), hn::Set(du, 1));
    return hn::Add(odd, hn::Set(du, (1U << (kDropped - 1)) - 1));
  }
  /// The magnitude of a subnormal f16 number, in steps of 2^-24.
  template <class D>
  HWY_INLINE Floats<D> steps(D d, Floats<D> magnitude, Bits<D>) const {
    const Floats<D> half = hn::Set(d, 0.5f);
    return hn::Mul(hn::Sub(hn::Add(magnitude, half), half), hn::Set(d, 0x1p24f));
  }
};

/// Anything between none of it and all of it.
struct Stochastically {
  RowNoise noise;

  template <int kDropped, class D>
  HWY_INLINE Bits<D> added(D, Bits<D>, std::int64_t element) const {
    const hn::RebindToUnsigned<D> du;
    const Bits<D> i = hn::Iota(du, noise.first + static_cast<std::uint32_t>(element));
    Bits<D> x = hn::Add(hn::Set(du, noise.row), hn::Mul(i, hn::Set(du, 0x9e3779b9U)));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352dU));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, 0x846ca68bU));
    x = hn::Xor(x, hn::ShiftRight<16>(x));
    return hn::ShiftRight<32 - kDropped>(x);
  }
  template <class D>
  HWY_INLINE Floats<D> steps(D d, Floats<D> magnitude, Bits<D> share_bits) const {
    const Floats<D> share = hn::Mul(
        hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D>(), share_bits)), hn::Set(d, 0x1p-13f));
    // Two operations, not one fused: the scalar definition rounds in between.
    return hn::Floor(hn::Add(hn::Mul(magnitude, hn::Set(d, 0x1p24f)), share));
  }
};

// --- the formats; 16-bit numbers travel in the lower half of 32-bit lanes ---

struct Bf16 {
  template <class D, class Mode>
  HWY_INLINE Bits<D> narrow(D d, Floats<D> x, const Mode& mode, std::int64_t element) const {
    const hn::RebindToUnsigned<D> du;
    const Bits<D> bits = hn::BitCast(du, x);
    const Bits<D> sum = hn::Add(bits, mode.template added<16>(d, bits, element));
    const Bits<D> nan = hn::Or(bits, hn::Set(du, kQuiet));
    return hn::ShiftRight<16>(hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), nan, sum));
  }
  template <class D>
  HWY_INLINE Floats<D> widen(D d, Bits<D> bits) const {
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  }
};

struct F16 {
  template <class D, class Mode>
  HWY_INLINE Bits<D> narrow(D d, Floats<D> x, const Mode& mode, std::int64_t element) const {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const Bits<D> bits = hn::BitCast(du, x);
    const Bits<D> magnitude = hn::And(bits, hn::Set(du, kMagnitude));
    // Without its sign a number is below 2^31: comparing signed numbers is cheaper, and the same.
    const auto at_least = [=](std::uint32_t limit) HWY_ATTR {
      const auto below = hn::Set(di, static_cast<std::int32_t>(limit) - 1);
      return hn::RebindMask(du, hn::Gt(hn::BitCast(di, magnitude), below));
    };
    const Bits<D> sign = hn::ShiftRight<16>(hn::AndNot(hn::Set(du, kMagnitude), bits));
    const Bits<D> added = mode.template added<13>(d, bits, element);
    Bits<D> result =
        hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(du, kExponentShift)), added));
    const Bits<D> steps =
        hn::BitCast(du, hn::ConvertTo(di, mode.steps(d, hn::BitCast(d, magnitude), added)));
    result = hn::IfThenElse(at_least(kLeastNormalF16), result, steps);
    result = hn::IfThenElse(at_least(kBeyondF16), hn::Set(du, 0x7c00U), result);
    result = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), hn::Set(du, 0x7e00U), result);
    return hn::Or(sign, result);
  }
  template <class D>
  HWY_INLINE Floats<D> widen(D d, Bits<D> bits) const {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const Bits<D> magnitude = hn::And(bits, hn::Set(du, 0x7fffU));
    const Bits<D> sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(du, 0x7fffU), bits));
    const Bits<D> shift = hn::Set(du, kExponentShift);
    const Bits<D> normal = hn::Add(hn::ShiftLeft<13>(magnitude), shift);
    const Bits<D> subnormal = hn::BitCast(
        du, hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), hn::Set(d, 0x1p-24f)));
    const auto at_least = [=](std::int32_t limit) HWY_ATTR {
      return hn::RebindMask(du, hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, limit - 1)));
    };
    Bits<D> result = hn::IfThenElse(at_least(0x7c00), hn::Add(normal, shift), normal);
    result = hn::IfThenElse(at_least(0x0400), result, subnormal);
    return hn::BitCast(d, hn::Or(sign, result));
  }
};

// --- rows ---

/// Calls body(tag, i) for vectors of elements, then for single ones.
template <class Body>
HWY_INLINE void for_each_vector(std::int64_t count, const Body& body) {
  constexpr hn::ScalableTag<float> vector;
  constexpr hn::CappedTag<float, 1> scalar;
  constexpr std::int64_t kLanes = std::int64_t{hn::MaxLanes(vector)};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    body(vector, i);
  }
  for (; i < count; ++i) {
    body(scalar, i);
  }
}

template <class Format>
HWY_INLINE void widen_all(float* out, const std::uint16_t* in, const Format& format,
                          std::int64_t count) {
  for_each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    using D = decltype(d);
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<std::uint16_t, D> narrow_tag;
    hn::StoreU(format.widen(d, hn::PromoteTo(du, hn::LoadU(narrow_tag, in + i))), d, out + i);
  });
}

template <class Format, class Mode>
HWY_INLINE void narrow_all(std::uint16_t* out, const float* x, const Format& format,
                           const Mode& mode, std::int64_t count) {
  for_each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    using D = decltype(d);
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::uint16_t, D> narrow_tag;
    const Bits<D> bits = format.narrow(d, hn::LoadU(d, x + i), mode, i);
    hn::StoreU(hn::DemoteTo(narrow_tag, hn::BitCast(di, bits)), narrow_tag, out + i);
  });
}

template <class Format, class Mode>
HWY_INLINE void round_all(float* out, const float* x, const Format& format, const Mode& mode,
                          std::int64_t count) {
  for_each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    hn::StoreU(format.widen(d, format.narrow(d, hn::LoadU(d, x + i), mode, i)), d, out + i);
  });
}

template <class Format, class Mode>
HWY_INLINE void add_all(float* sum, const float* x, const Format& format, const Mode& mode,
                        std::int64_t count) {
  for_each_vector(count, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto exact = hn::Add(hn::LoadU(d, sum + i), hn::LoadU(d, x + i));
    hn::StoreU(format.widen(d, format.narrow(d, exact, mode, i)), d, sum + i);
  });
}

void widen_row(float* out, const std::uint16_t* bits, NumberFormat format, std::int64_t count) {
  format == NumberFormat::bf16 ? widen_all(out, bits, Bf16{}, count)
                               : widen_all(out, bits, F16{}, count);
}

void narrow_to_nearest(std::uint16_t* bits, const float* x, NumberFormat format,
                       std::int64_t count) {
  format == NumberFormat::bf16 ? narrow_all(bits, x, Bf16{}, ToNearest{}, count)
                               : narrow_all(bits, x, F16{}, ToNearest{}, count);
}

void narrow_stochastically(std::uint16_t* bits, const float* x, NumberFormat format,
                           const RowNoise& noise, std::int64_t count) {
  format == NumberFormat::bf16 ? narrow_all(bits, x, Bf16{}, Stochastically{noise}, count)
                               : narrow_all(bits, x, F16{}, Stochastically{noise}, count);
}

void round_to_nearest(float* out, const float* x, NumberFormat format, std::int64_t count) {
  format == NumberFormat::bf16 ? round_all(out, x, Bf16{}, ToNearest{}, count)
                               : round_all(out, x, F16{}, ToNearest{}, count);
}

void round_stochastically(float* out, const float* x, NumberFormat format, const RowNoise& noise,
                          std::int64_t count) {
  format == NumberFormat::bf16 ? round_all(out, x, Bf16{}, Stochastically{noise}, count)
                               : round_all(out, x, F16{}, Stochastically{noise}, count);
}

void add_to_nearest(float* sum, const float* x, NumberFormat format, std::int64_t count) {
  format == NumberFormat::bf16 ? add_all(sum, x, Bf16{}, ToNearest{}, count)
                               : add_all(sum, x, F16{}, ToNearest{}, count);
}

void add_stochastically(float* sum, const float* x, NumberFormat format, const RowNoise& noise,
                        std::int64_t count) {
  format == NumberFormat::bf16 ? add_all(sum, x, Bf16{}, Stochastically{noise}, count)
                               : add_all(sum, x, F16{}, Stochastically{noise}, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(widen_row);
HWY_EXPORT(narrow_to_nearest);
HWY_EXPORT(narrow_stochastically);
HWY_EXPORT(round_to_nearest);
HWY_EXPORT(round_stochastically);
HWY_EXPORT(add_to_nearest);
HWY_EXPORT(add_stochastically);

void widen_row(float* out, const std::uint16_t* bits, NumberFormat format, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(widen_row)(out, bits, format, count);
}
void narrow_row(std::uint16_t* bits, const float* x, NumberFormat format, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(narrow_to_nearest)(bits, x, format, count);
}
void narrow_row(std::uint16_t* bits, const float* x, NumberFormat format, const RowNoise& noise,
                std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(narrow_stochastically)(bits, x, format, noise, count);
}
void round_row(float* out, const float* x, NumberFormat format, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_to_nearest)(out, x, format, count);
}
void round_row(float* out, const float* x, NumberFormat format, const RowNoise& noise,
               std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_stochastically)(out, x, format, noise, count);
}
void add_row_rounded(float* sum, const float* x, NumberFormat format, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_to_nearest)(sum, x, format, count);
}
void add_row_rounded(float* sum, const float* x, NumberFormat format, const RowNoise& noise,
                     std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_stochastically)(sum, x, format, noise, count);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
