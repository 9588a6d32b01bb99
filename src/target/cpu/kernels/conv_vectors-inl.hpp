// What the convolution kernels share: how a block of eight channels is cut into vectors, and how
// many of them are summed into at once. Included once per Highway target, hence the toggled guard.
#if defined(COSMIC_CONV_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef COSMIC_CONV_VECTORS_INL_HPP
#undef COSMIC_CONV_VECTORS_INL_HPP
#else
#define COSMIC_CONV_VECTORS_INL_HPP
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "target/cpu/kernels/conv_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace cosmic::target::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kBlock>;
using Vector = hn::Vec<Lanes>;
constexpr Lanes kLanes{};
constexpr std::int64_t kLaneCount = hn::MaxLanes(kLanes);
constexpr int kVectors = static_cast<int>(kBlock / kLaneCount);  // of one channel block

// Eight sums hide the latency of two multiply-adds per cycle; more than that saves loads. The other
// registers hold weights or gradients, a broadcast, and a product where there is no multiply-add.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr int kAccumulators = kManyRegisters ? 24 : HWY_NATIVE_FMA ? 12 : 8;

}  // namespace
}  // namespace cosmic::target::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
