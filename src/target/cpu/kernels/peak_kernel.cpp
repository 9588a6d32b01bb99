#include "target/cpu/kernels/peak_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "target/cpu/kernels/peak_kernel.cpp"
// The same targets as the kernels that are measured against it.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include <hwy/foreach_target.h>
// foreach_target must come first: it decides what highway.h is compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double multiply_add_rounds(std::int64_t rounds, float* sink) {
  constexpr hn::ScalableTag<float> d;
  // Sums that do not wait for each other: two units, four to five cycles each, fit into the
  // registers of every vector set. Each starts from another number: sums that a compiler can prove
  // to be equal it computes once, and the peak would come out too high by as much.
  auto s0 = hn::Zero(d), s1 = hn::Set(d, 1.0F), s2 = hn::Set(d, 2.0F), s3 = hn::Set(d, 3.0F);
  auto s4 = hn::Set(d, 4.0F), s5 = hn::Set(d, 5.0F), s6 = hn::Set(d, 6.0F);
  auto s7 = hn::Set(d, 7.0F), s8 = hn::Set(d, 8.0F), s9 = hn::Set(d, 9.0F);
  // Below 1, so that the sums stay finite.
  const auto factor = hn::Set(d, 0.5F);
  const auto addend = hn::Set(d, 1.0F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    s0 = hn::MulAdd(s0, factor, addend);
    s1 = hn::MulAdd(s1, factor, addend);
    s2 = hn::MulAdd(s2, factor, addend);
    s3 = hn::MulAdd(s3, factor, addend);
    s4 = hn::MulAdd(s4, factor, addend);
    s5 = hn::MulAdd(s5, factor, addend);
    s6 = hn::MulAdd(s6, factor, addend);
    s7 = hn::MulAdd(s7, factor, addend);
    s8 = hn::MulAdd(s8, factor, addend);
    s9 = hn::MulAdd(s9, factor, addend);
  }
  const auto low = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto high = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  *sink = hn::GetLane(hn::Add(hn::Add(low, high), hn::Add(s8, s9)));
  constexpr double kSums = 10;
  constexpr double kOperations = 2;  // of a multiply-add
  return kSums * kOperations * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace cosmic::target::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cosmic::target::cpu {

HWY_EXPORT(multiply_add_rounds);

double multiply_add_rounds(std::int64_t rounds, float* sink) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_rounds)(rounds, sink);
}

}  // namespace cosmic::target::cpu
#endif  // HWY_ONCE
